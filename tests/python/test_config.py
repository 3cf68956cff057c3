"""OpConfig: its forms, and what they refuse."""

import copy
import pickle
import types

import einkorn
import pytest

RULES = {
    "default": "auto",
    "rms_norm": "cpu/rows_v1",
    "modules": {
        "model.layers.*.input_layernorm": {"rms_norm": "reference"},
        "**": {"silu_mul": "cpu/*"},
    },
}
TOML = """
default = "auto"
rms_norm = "cpu/rows_v1"

[modules."model.layers.*.input_layernorm"]
rms_norm = "reference"

[modules."**"]
silu_mul = "cpu/*"
"""
JSON = (
    '{"default": "auto", "rms_norm": "cpu/rows_v1", "modules": {"model.layers.*.input_layernorm": '
    '{"rms_norm": "reference"}, "**": {"silu_mul": "cpu/*"}}}'
)
PAIRS = (
    "default=auto,rms_norm=cpu/rows_v1,model.layers.*.input_layernorm:rms_norm=reference,"
    "**:silu_mul=cpu/*"
)


def test_all_forms_say_the_same(monkeypatch, tmp_path):
    made = einkorn.OpConfig(RULES)
    assert made.to_dict() == RULES
    monkeypatch.setenv("EINKORN_OPS", PAIRS)
    (tmp_path / "ops.toml").write_text(TOML)
    (tmp_path / "ops.json").write_text(JSON)
    for other in (
        einkorn.OpConfig(types.MappingProxyType(RULES)),
        einkorn.OpConfig.from_toml(TOML),
        einkorn.OpConfig.from_json(JSON),
        einkorn.OpConfig.from_file(tmp_path / "ops.toml"),
        einkorn.OpConfig.from_file(str(tmp_path / "ops.json")),
        einkorn.OpConfig.from_environment(),
        pickle.loads(pickle.dumps(made)),
        copy.deepcopy(made),
        eval(repr(made), {"OpConfig": einkorn.OpConfig}),
    ):
        assert other == made and hash(other) == hash(made)
        other.check()


def test_the_order_of_tables_counts():
    tables = RULES["modules"]
    turned = {**RULES, "modules": dict(reversed(tables.items()))}
    assert einkorn.OpConfig(turned) != einkorn.OpConfig(RULES)
    assert list(einkorn.OpConfig(turned).to_dict()["modules"]) == list(reversed(tables))


def test_no_rules_without_the_variable(monkeypatch):
    monkeypatch.delenv("EINKORN_OPS", raising=False)
    assert einkorn.OpConfig.from_environment() == einkorn.OpConfig({})


@pytest.mark.parametrize(
    ("rules", "texts"),
    [
        ({"rms_nrm": "auto"}, ["rms_nrm", "did you mean 'rms_norm'"]),
        ({"rms_norm": "cpu/row_v1"}, ["cpu/row_v1", "did you mean 'cpu/rows_v1'"]),
        ({"rms_norm": "sm42/*"}, ["sm42/*"]),
        ({"modules": {"a": {"silu_mull": "auto"}}}, ["silu_mull", "did you mean 'silu_mul'"]),
        ({"default": "cpu/no_v1"}, ["cpu/no_v1"]),
    ],
)
def test_check_names_the_nearest(rules, texts):
    with pytest.raises(ValueError) as raised:
        einkorn.OpConfig(rules).check()
    for text in texts:
        assert text in str(raised.value)


def test_check_lists_all_faults():
    with pytest.raises(ValueError, match="got 2") as raised:
        einkorn.OpConfig({"rms_nrm": "auto", "silu_mul": "cpu/no_v1"}).check()
    assert "rms_nrm" in str(raised.value) and "cpu/no_v1" in str(raised.value)


def test_python_variants_may_be_chosen():
    @einkorn.variant("rms_norm", "configured", arrays="numpy", force=True)
    def mine(x, weight, residual, *, eps, offset, rounding):
        return x

    einkorn.OpConfig({"rms_norm": "python/configured_v1"}).check()


@pytest.mark.parametrize(
    ("rules", "error", "text"),
    [
        ("rms_norm=auto", TypeError, "expected a mapping, got str"),
        ({1: "auto"}, TypeError, "rules key: expected str, got int"),
        ({"rms_norm": object()}, TypeError, "rms_norm: expected str, got object"),
        ({"rms_norm": None}, ValueError, "got null"),
        ({"rms_norm": 1}, ValueError, "got a number"),
        ({"rms_norm": ""}, ValueError, "got an empty text"),
        ({"module": {"a": {"rms_norm": "auto"}}}, ValueError, "did you mean 'modules'"),
        ({"modules": {"a": "auto"}}, ValueError, "expected an object of rules"),
        ({"modules": {"a": {2: "auto"}}}, TypeError, "a key: expected str"),
    ],
)
def test_what_is_no_configuration(rules, error, text):
    with pytest.raises(error, match=text):
        einkorn.OpConfig(rules)


@pytest.mark.parametrize(
    ("function", "text", "message"),
    [
        ("from_toml", "rms_norm = ", "expected TOML, got a mistake at line 1"),
        ("from_toml", "a = 'auto'\nrms_norm = 3", "line 2"),
        ("from_json", "{", "expected JSON"),
        ("from_json", '{"a": "auto", "a": "auto"}', "'a' again"),
    ],
)
def test_texts_with_mistakes(function, text, message):
    with pytest.raises(ValueError, match=message):
        getattr(einkorn.OpConfig, function)(text)


def test_files_with_mistakes(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"ends with \.toml or \.json"):
        einkorn.OpConfig.from_file(tmp_path / "ops.yaml")
    with pytest.raises(FileNotFoundError):
        einkorn.OpConfig.from_file(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("rms_norm = 3")
    with pytest.raises(ValueError) as raised:
        einkorn.OpConfig.from_file(tmp_path / "bad.toml")
    assert any("bad.toml" in note for note in raised.value.__notes__)
    monkeypatch.setenv("EINKORN_OPS", "rms_norm")
    with pytest.raises(ValueError, match="EINKORN_OPS: expected op=choice"):
        einkorn.OpConfig.from_environment()
