"""Where a checkout comes from, by reading the plain files of its .git; git itself is not needed."""

import pathlib
import re


def read(root: pathlib.Path) -> dict[str, str]:
    """`url` and `commit`, "" where unknown: no .git, or one that is damaged or of another kind."""
    git = _git_folder(root)
    if git is None:
        return {"url": "", "commit": ""}
    common = _text(git / "commondir")  # of a linked worktree: where refs and the configuration are
    shared = (git / common).resolve() if common else git
    return {"url": _url(_text(shared / "config")), "commit": _commit(git, shared)}


def _git_folder(root: pathlib.Path) -> pathlib.Path | None:
    git = root / ".git"
    if git.is_file():  # a submodule or a worktree: "gitdir: <path>"
        found = re.match(r"gitdir:\s*(.+)", _text(git))
        git = (root / found[1].strip()).resolve() if found else git
    return git if git.is_dir() else None


def _commit(git: pathlib.Path, shared: pathlib.Path) -> str:
    head = _text(git / "HEAD")
    named = re.match(r"ref:\s*(\S+)", head)
    if named is None:
        return head if re.fullmatch(r"[0-9a-f]{40,64}", head) else ""
    ref = named[1]
    loose = _text(shared / ref) if ".." not in ref else ""
    if re.fullmatch(r"[0-9a-f]{40,64}", loose):
        return loose
    packed = _text(shared / "packed-refs")
    found = re.search(rf"^([0-9a-f]{{40,64}}) {re.escape(ref)}$", packed, re.MULTILINE)
    return found[1] if found else ""


def _url(config: str) -> str:
    """Of the remote `origin`, else of the first. A password in it is left out."""
    remotes = re.findall(r'^\s*\[remote "([^"]+)"\]([^\[]*)', config, re.MULTILINE)
    urls = {}
    for name, body in remotes:
        if found := re.search(r"^\s*url\s*=\s*(\S+)", body, re.MULTILINE):
            urls[name] = re.sub(r"(?<=://)[^/@]+@", "", found[1])
    return urls.get("origin") or next(iter(urls.values()), "")


def _text(path: pathlib.Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
