"""The results of a judgement as Python objects with readable texts."""
import json
import math
from dataclasses import asdict, dataclass, field
from typing import Any, Dict, List, Optional

from ._library import convention_of, counted, operation_of


@dataclass
class WorstRow:
    """One row of the function's input and output."""
    number: int
    x: Any
    y: Any
    exact: Any  # float64
    residual: Any = None
    gamma: Any = None
    beta: Any = None


@dataclass
class Case:
    """The result of one check. `metrics` has the names of `lnbench eval --format json`."""
    check: str
    input: str
    convention: str
    dtype: str
    rows: int
    hidden: int
    verdict: Optional[str]  # "pass", "type-limited", "fail", "unsupported", "missing"; None: not judged
    reason: str  # for fail: "inaccurate", "crashed", ...; for pass: "" or "no bound"
    detail: str
    passed: bool
    metrics: Dict[str, float] = field(default_factory=dict)
    worst: Optional[WorstRow] = field(default=None, repr=False)
    ulp_histogram: List[int] = field(default_factory=list, repr=False)
    step: int = 0  # the number of the worst step, for judge(step=...)

    def to_dict(self) -> dict:
        """Returns the content of the C program's JSON: counts are integers, and infinities and NaN are null."""
        metrics = {name: None if not math.isfinite(value) else int(value) if name in counted else value
                   for name, value in self.metrics.items()}
        all_ = sum(self.ulp_histogram)
        metrics["ulp_histogram"] = [count / all_ for count in self.ulp_histogram] if all_ else []
        return {"operation": operation_of(convention_of(self.convention)), "kernel": "given", "check": self.check,
                "convention": self.convention, "rows": self.rows, "hidden": self.hidden,
                "dtype": self.dtype, "input": self.input, "verdict": self.verdict,
                "reason": self.reason, "detail": self.detail, "metrics": metrics}

    @property
    def name(self) -> str:
        return f"{self.check}: {self.input}" if self.input else self.check

    def says(self) -> str:
        """The verdict with its reason: "fail (crashed: SIGSEGV)"."""
        why = self.reason
        if self.detail:
            why = f"{why}: {self.detail}" if why else self.detail
        return (self.verdict or "not judged") + (f" ({why})" if why else "")


@dataclass
class Report:
    """The verdict on a function, or on an output: `passed`, `cases`, `worst`."""
    cases: List[Case]
    passed: bool
    subject: str
    repeat: str = ""
    worst_case: Optional[Case] = None
    facts: List[str] = field(default_factory=list)  # facts that are no failures, such as unsupported layouts
    function: Optional["FingerprintReport"] = None  # the function that made a wrong output, if it was searched
    untested: str = ""  # tests that need other processes; `lnbench run` makes them

    @property
    def worst(self) -> Optional[WorstRow]:
        """A row of the first failed check that has one, else the row with the largest error; None: no row."""
        failed = [case for case in self.cases if not case.passed and case.worst]
        case = self.worst_case if self.passed or not failed else failed[0]
        return case.worst if case else None

    @property
    def verdict(self) -> Optional[str]:
        """ "pass", or the verdict of the case that did not pass; None: not judged."""
        return "pass" if self.passed else self.worst_case.verdict if self.worst_case else None

    @property
    def reason(self) -> str:
        return "" if self.passed or not self.worst_case else self.worst_case.reason

    def says(self) -> str:
        """The verdict with its reason: "fail (input-modified: wrote to its input x)"."""
        if self.passed:
            limited = sum(one.verdict == "type-limited" for one in self.cases)
            wrong = sum(one.metrics.get("mismatches", 0) > 0 for one in self.cases)
            return ("pass" + f", type-limited in {limited} of {len(self.cases)} checks" * bool(limited)
                    + f" (in {wrong} of them: NaN or infinity)" * bool(wrong))
        return self.worst_case.says() if self.worst_case else "not judged"

    def to_dict(self) -> dict:
        return {"schema": "lnbench-judge-2", "subject": self.subject, "passed": self.passed,
                "verdict": self.verdict, "reason": self.reason, "repeat": self.repeat, "facts": self.facts,
                "function": self.function and {
                    "answer": self.function.answer,
                    "candidates": [one.function for one in self.function.candidates]},
                "cases": [case.to_dict() for case in self.cases]}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def explain(self) -> str:
        """The verdict, the failure and the call that repeats it. print() shows the same."""
        case = self.worst_case
        judged = case and case.verdict is not None
        wrong = f" does not follow convention {case.convention}" if judged and not self.passed else ""
        limited = ", ".join(one.input or one.check for one in self.cases if one.verdict == "type-limited")
        lines = [f"{self.subject}{wrong}: {self.says()}"]
        if case:
            if not self.passed:
                lines.append(f"check     {case.name}" + f" at {case.rows} x {case.hidden}" * (f"x{case.hidden}" not in case.detail)
                             + f" ({sum(not one.passed for one in self.cases)} of {len(self.cases)} checks fail)" * bool(judged))
            else:
                lines.append(f"checks    {len(self.cases)} pass" + bool(limited) *
                             f"; type-limited: {limited} ({'as E[x²] - mean² is' if 'offset' in limited else 'as correct functions may be'};"
                             " if you have such rows, use another formula or wider sums)")
        if self.function:
            own = any(one.convention == case.convention and ";" not in one.function for one in self.function.candidates)
            lines.append(f"function  {self.function.says()}"
                         + f" ({case.convention} only with another eps or poorer sums)" * own)
        if case and case.worst and case.worst.number == case.metrics["worst_row"]:
            figures = case.metrics
            lines.append(f"worst     {'of those that are not type-limited: ' * bool(limited)}{case.name}, row {case.worst.number} of {case.rows} x {case.hidden}, "
                         f"column {int(figures['worst_column'])}: {figures['worst_computed']!r} where "
                         f"{figures['worst_exact']!r} is exact (row ULP {figures['row_ulp_max']:.3g}{', within the limit of its row' * (self.passed and not case.reason)})")
        if self.facts:
            lines.append(f"facts     {'; '.join(self.facts)}")
        if self.untested and self.passed:
            lines.append(f"untested  {self.untested}: lnbench run tests them")
        if self.repeat:
            lines.append(f"repeat    {self.repeat}")
        return "\n".join(lines)

    __str__ = __repr__ = explain


@dataclass
class Candidate:
    """A function that explains y, in words. convention is None if it is no normalisation; every eps from
    eps_low to eps_high explains y; `also` names other presets that fit, or is None."""
    function: str
    convention: Optional[str]
    eps_low: Optional[float]
    eps_high: Optional[float]
    also: Optional[str]


@dataclass
class FingerprintReport:
    """The function that made an output: `answer` is "named", "open" (one of `candidates`) or "none".
    `row` is one more row that would separate most pairs of candidates, or None."""
    answer: str
    candidates: List[Candidate]
    tried: int
    rows: int
    rows_used: int
    row: Optional[List[float]]
    pairs: int
    pairs_left: int

    @property
    def function(self) -> Optional[str]:
        """The name of the function; None if the answer is open or none."""
        return self.candidates[0].function if self.answer == "named" else None

    def to_dict(self) -> dict:
        return {"schema": "lnbench-fingerprint-3", **asdict(self)}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def says(self) -> str:
        """ "named: torch", "open: torch; or bert; or 7 more", "none of 681 candidates explains y (...)"."""
        if self.answer == "none":
            return f"none of {self.tried} candidates explains y (with these gamma and beta)"
        named = [one.function + f" ({one.also})" * bool(one.also) for one in self.candidates]
        if self.function:
            return (f"named: {named[0]}" + " (it is unknown where values were rounded)" * (len(self.candidates) > 1))
        named = [text + (f" with any eps from {one.eps_low:.2g} to {one.eps_high:.2g}" if one.eps_low != one.eps_high else "")
                 for text, one in zip(named, self.candidates)]
        return (f"{self.answer}: {'; or '.join(named[:4])}"
                + f"; or {len(named) - 4} more" * (len(named) > 4))

    def __str__(self) -> str:
        if not self.row:
            return self.says()
        return (f"{self.says()}\na row that alternates between +-{self.row[0]:g} would separate "
                f"{self.pairs - self.pairs_left} of {self.pairs} pairs of candidates")

    __repr__ = __str__
