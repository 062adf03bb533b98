#!/bin/sh
# The one way through (plan, worker, judge, store, views, charts) as a check of who includes what.
# usage: layering_test.sh SOURCE_ROOT
set -u
cd "$1" || exit 1
failures=0

# forbid WHAT FILES... : no file may have a line that matches the extended regular expression.
forbid() {
    pattern=$1
    why=$2
    shift 2
    found=$(grep -nE "$pattern" "$@" /dev/null)
    [ -z "$found" ] && return
    echo "$why:"
    echo "$found"
    failures=$((failures + 1))
}

# sources PATTERN EXCEPT : tracked or new C files under a path, without those of another pattern.
sources() {
    find "$1" \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' \) -not -path '*/build*' |
        grep -vE "${2:-^$}" | sort
}

include='^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]'

# shellcheck disable=SC2046
{
    forbid "${include}(sqlite3|jansson|mpfr|gmp|hayai|benchmark|cmocka)" \
        "kernels/ depends on libc, libm and threads alone" $(sources kernels '/tests/|/peers/')
    forbid "${include}.*(reference|metrics|worker|judge|store|plan)\.h" \
        "kernels/ knows nothing of what judges it" $(sources kernels '/tests/')
    forbid "${include}(mpfr|gmp)\.h" "only reference/ uses MPFR and GMP" \
        $(sources kernels) $(sources harness)
    forbid "${include}(worker|judge|store|plan|views|session)\.h" \
        "reference/ comes before the harness" $(sources reference)
    forbid "${include}sqlite3\.h" "SQL stands in one place, store*" \
        $(sources harness '^harness/(store|machine|tests/)') $(sources reference)
    forbid "${include}(hayai|dlfcn)\.h" "only the worker loads and times kernels" \
        $(sources harness '^harness/(worker_|hayai-c/|tests/)')
    forbid "${include}(reference|judge|store)\.h" "the worker never holds the answer" \
        harness/worker_*.c harness/worker_inside.h
    forbid "${include}(worker|judge|judge_inside|session|plan|protocol)\.h" \
        "what comes after the store measures nothing" harness/store*.[ch] harness/speed.[ch] \
        harness/views*.[ch] harness/export*.[ch] harness/report*.[ch] harness/draw.[ch] \
        harness/result_table.[ch] harness/choose.[ch] harness/choose_evidence.c \
        harness/choose_show.h harness/choose_print.c harness/choose_json.c harness/choose_emit.c \
        harness/compar*.[ch] harness/run_read*.[ch] harness/run_find.[ch] harness/history*.[ch] \
        harness/import.c harness/calibrate_sum.c harness/change_points.[ch] harness/rank_test.[ch]
    forbid "${include}(store_internal|sqlite3)\.h" "views read through store.h" \
        harness/views*.[ch] harness/report*.[ch] harness/export*.[ch]
    forbid "((->|\.)ddof|eps_place|LN_AFFINE_|LN_EPS_)" \
        "divisor, eps and affine stand in kernels/convention.h alone" \
        $(sources kernels/statistics) $(sources kernels/lane)
}
[ "$failures" -eq 0 ] && echo "layers: every include goes the one way"
exit "$failures"
