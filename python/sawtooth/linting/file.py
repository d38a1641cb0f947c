"""Rules about the file as a whole: that it can be used at all, and what the core says that has no rule of its own."""

from __future__ import annotations

from sawtooth.linting.rule import Rule

RULES = (
    Rule(
        "SW001", "unusable", "error", "a study that no run could use: a misspelt key, a unit that does not fit, a value outside its range",
        "Nothing runs. Among what is refused so are a Hurst exponent outside [0.5, 1) (the published study of self-similar background says H = 1, "
        "which no stationary traffic has), a load of one or more, and a queue that holds less than a packet.",
        "Follow the hint; `sawtooth list key` shows what a scenario can say.",
    ),
    Rule(
        "SW002", "hardly-meant", "warning", "what can be run and is hardly meant, of a kind that has no rule of its own",
        "The simulator does what the study says, which is not what its author will read into the result.",
        "Follow the hint, or say in `[lint]`, `ignore = { SW002 = \"why\" }` why it is meant.",
    ),
)  # fmt: skip
