# The repositories under repos/ are what is surveyed; their tests are not ours to run.
collect_ignore = ["repos"]
