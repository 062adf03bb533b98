#!/bin/bash
# shellcheck disable=SC2317 # check() calls its arguments
# The recipes of docs/recipes and docs/choosing.md run unchanged: their script lines are extracted and run, on a toy
# library in a repository of its own. Long commands are shortened, by the recipes' own variables and by an
# lnbench that restricts its arguments.
#     recipes_test.sh SOURCE BINARIES CC CXX
set -u
root=$1 binaries=$2 cc=$3 cxx=$4
failures=0
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
check() { # LABEL COMMAND...
    local label=$1
    shift
    "$@" >out 2>&1 && return
    echo "FAILED: $label"
    sed 's/^/  /' out
    failures=$((failures + 1))
}

# script FILE: prints the lines of its blocks, each in a shell of its own, as the service runs it.
script() {
    awk '
        block && (match($0, /^ */) && RLENGTH > indent || /^$/) { print; next }
        block { print ") || exit"; block = 0 }
        /(run|-): \|$|- \|$/ { match($0, /^ */); indent = RLENGTH; block = 1; print "(set -e" }
        END { if (block) print ") || exit" }' "$1"
}

# ---- the programs that the recipes call ----
mkdir bin
# A service that also has a comment by another user: without a body it lists them, filtered by --jq; a sent comment
# gets the number 42.
cat >bin/gh <<END
#!/bin/bash
filter=. verb=POST
for word; do
    [ "\$last" != --jq ] || filter=\$word
    [ "\$last" != -X ] || verb=\$word
    case \$word in body=*) body=\${word#body=?} ;; http* | repos/*) url=\$word ;; esac
    last=\$word
done
if [ "\$body" ]; then
    echo "\$verb \$url" >>"$scratch/comments.log"
    exec cp "\$body" "$scratch/comment"
fi
touch "$scratch/comment"
jq -Rs '[{id: 7, body: "Looks good"}, {id: 42, body: .}]' "$scratch/comment" | jq -r "\$filter"
END
ln -s gh bin/curl
# The compiler may be ccache, which looks for the next cc on its PATH.
printf '#!/bin/sh\nPATH="%s" exec "%s" "$@"\n' "$PATH" "$cc" >bin/cc
cat >bin/lnbench <<END
#!/bin/sh
case "\$*" in
"run "*--processes*) set -- "\$@" --kernels 'two_pass_f32_scalar' --shapes 4x64 --repetitions 2 --conformance no --inputs normal ;;
"run "*now.db*) set -- "\$@" --conformance no ;;
"choose "*) set -- "\$@" --kernels '*bf16*_scalar' ;;
esac
exec "$binaries/lnbench" "\$@"
END
chmod +x bin/*
export PATH=$scratch/bin:$PATH GIT_CONFIG_GLOBAL=$scratch/gitconfig LNBENCH=$scratch/bin/lnbench LNBENCH_PEERS=0
export DUET='--only accuracy --conventions torch --shapes 4x64'
export GIT_AUTHOR_NAME=toy GIT_AUTHOR_EMAIL=toy@example.org GIT_COMMITTER_NAME=toy
export GIT_COMMITTER_EMAIL=toy@example.org GITHUB_BASE_REF=main PULL=7 COMMENT_TOKEN=secret GITHUB_REPOSITORY=my/lib
export CI_API_V4_URL=https://example.org CI_PROJECT_ID=1 CI_MERGE_REQUEST_IID=7

# ---- a library with a LayerNorm, and two pull requests ----
mkdir -p mylib/ci && cd mylib || exit 1
git init -q -b main .
cp "$root/docs/recipes/adapter.c" ci/
ln -s "$root" lnbench
cat >norm.h <<'END'
#include <stddef.h>
void layer_norm(float *y, const float *x, const float *weight, const float *bias, size_t rows,
                size_t hidden, float eps);
END
cat >norm.c <<'END'
#include "norm.h"
#include <math.h>
void layer_norm(float *y, const float *x, const float *weight, const float *bias, size_t rows,
                size_t hidden, float eps)
{
    for (; rows--; x += hidden, y += hidden) {
        float mean = 0, var = 0;
        for (size_t i = 0; i < hidden; i++)
            mean += x[i] / (float)hidden;
        for (size_t i = 0; i < hidden; i++)
            var += (x[i] - mean) * (x[i] - mean) / (float)hidden;
        for (size_t i = 0; i < hidden; i++)
            y[i] = (x[i] - mean) / sqrtf(var + eps) * weight[i] + bias[i];
    }
}
END
git add norm.[ch] ci && git commit -qm "A LayerNorm"
git update-ref refs/remotes/origin/main HEAD
CI_MERGE_REQUEST_DIFF_BASE_SHA=$(git rev-parse HEAD)
export CI_MERGE_REQUEST_DIFF_BASE_SHA

gate() { # SERVICE STATUS: runs the script; fails unless it exits with this status
    rm -rf base duet.* ../comments.log
    git worktree prune
    case $1 in
    github) script "$root/docs/recipes/github-gate.yml" >../script ;;
    gitlab) script "$root/docs/recipes/gitlab-gate.yml" >../script ;;
    esac
    bash -e ../script
    local status=$?
    [ "$status" = "$2" ] || { echo "$1: $status instead of $2"; false; }
}
command -v jq >/dev/null || echo "not checked: comments (jq is not installed)"
for service in github gitlab; do
    rm -f ../comment
    check "$service: at most 20 lines" test "$(wc -l <"$root/docs/recipes/$service-gate.yml")" -le 20
    git checkout -q -B change main
    sed -i 's/(x\[i\] - mean) \* (x\[i\] - mean) \/ (float)hidden/(x[i] * x[i] - mean * mean) \/ (float)hidden/' norm.c
    git commit -qam "One pass less"
    check "$service: digits were lost" gate $service 5
    check "$service: what it says" grep -Eq '(bits differ|less accurate).*offset, torch, row [0-9]+: .* row ULP, was' duet.md
    command -v jq >/dev/null || continue
    check "$service: a comment" grep -Eqx 'POST .*/(issues/7/comments|merge_requests/7/notes)' ../comments.log
    git checkout -q -B change main
    echo "text" >README && git add README && git commit -qm "A change of text"
    check "$service: nothing changed" gate $service 0
    check "$service: the comment is updated in place" grep -Eqx '(PATCH|PUT) .*/(issues/comments|notes)/42' ../comments.log
    check "$service: it has five lines" test "$(wc -l <../comment)" = 5
    check "$service: which say so" grep -q 'bit-identical' ../comment
done
# ---- a base that is a file ----
baseline() { # STATUS: the lines of the page
    rm -f now.*
    cc -shared -fPIC -O2 -I lnbench/kernels/include -I . -o side.so ci/adapter.c norm.c -lm
    bash -ec "$(sed -n '/baseline.db/,/^## /s/^lnbench /&/p' "$root/docs/tracking.md")"
    local status=$?
    [ -e ci/baseline.db.xz ] || cp now.db.xz ci/baseline.db.xz
    [ "$status" = "$1" ] || { echo "$status instead of $1"; false; }
}
git checkout -q main
check "the first baseline" baseline 7
check "a baseline of the same" baseline 0
sed -i 's/sqrtf(var + eps)/(sqrtf(var) + eps)/' norm.c
check "a baseline of another function" baseline 5
cd .. || exit 1

# ---- a page each night ----
for recipe in github-pages.yml gitlab-pages.yml; do
    rm -rf night && mkdir night && cd night || exit 1
    script "$root/docs/recipes/$recipe" >../script
    for night in 1 2; do
        check "$recipe: night $night" bash -e ../script
        check "$recipe: its page" test "$(ls -- */index.html)"
        rm -f night.db* night.run.db
    done
    check "$recipe: two nights are kept" test "$(lnbench list runs --db history/lnbench.db --format tsv | wc -l)" = 3
    cd .. || exit 1
done

# ---- kernels in C, C++ and Rust ----
is_right() { # FILE KERNEL [CONVENTION]
    lnbench run --only accuracy --conformance no --inputs normal,offset:1e4 --plugin "$1" --kernels "$2" \
        --conventions "${3-torch}" --shapes 4x64 --db k.db --no-charts --json |
        grep -q '"verdict": "pass"'
}
compiled() { # FILE: by the command in its first comment
    local file=$1 line
    line=$(sed -n -E 's@^(//| \*) +((cc|g\+\+|rustc) .*)@\2@p' "$root/$file" | head -1)
    line=$(sed -E "s@ -o [^ ]+@ -o '$scratch/kernel.so'@" <<<"$line")
    [ -n "$line" ] && (cd "$root" && eval "$line")
}
g++() { command "$cxx" "$@"; }
check "C: it compiles" compiled kernels/example_plugin.c
check "C: it is judged" is_right ./kernel.so example
check "RMSNorm's loops: they compile" compiled docs/recipes/rmsnorm_loops.c
check "RMSNorm's loops: they are judged" is_right ./kernel.so sglang_loop_f32 torch-rms
check "C++: it compiles" compiled docs/recipes/kernel.cpp
check "C++: it is judged" is_right ./kernel.so cpp_two_pass
if command -v rustc >/dev/null; then
    check "Rust: it compiles" compiled docs/recipes/kernel.rs
    check "Rust: it is judged" is_right ./kernel.so rust_two_pass
else
    echo "not checked: Rust (rustc is not installed)"
fi

# ---- the example in the plugin header, with a normalise() of its own ----
sketch() { # prints the comment from the #include to the entry
    sed -n '/^ \*     #include <layernorm_plugin.h>/,/ln_plugin(void)/s/^ \* \{0,5\}//p' \
        "$root/kernels/include/layernorm_plugin.h"
}
normalise='#include <math.h>
#include <stddef.h>
static void normalise(const float *x, float *y, size_t n)
{
    float mean = 0, var = 0;
    for (size_t i = 0; i < n; i++) mean += x[i];
    mean /= (float)n;
    for (size_t i = 0; i < n; i++) var += (x[i] - mean) * (x[i] - mean);
    for (size_t i = 0; i < n; i++) y[i] = (x[i] - mean) / sqrtf(var / (float)n + 1e-5f);
}'
printf '%s\n%s\n' "$normalise" "$(sketch)" >sketch.c
compiled_sketch() {
    "$cc" -shared -fPIC -O2 -Wall -Wextra -Werror -I "$root/kernels/include" sketch.c \
        -o sketch.so -lm
}
judged_sketch() { # in every placement, also strided, and in every conformance test
    "$binaries/lnbench" run --plugin ./sketch.so --kernels mine --conventions ddof=0,eps=1e-5@var,affine=none \
        --plan quick --only accuracy --db sketch.db --no-charts &&
        lnbench export --db sketch.db --format tsv >sketch.tsv &&
        grep -q $'^layernorm\tmine\t.*\tcombinations\t.*\tpass\t' sketch.tsv
}
check "the sketch: it compiles" compiled_sketch
check "the sketch: it is judged, with no violation" judged_sketch
sed -i 's/problem->y_stride/problem->hidden/' sketch.c
check "the sketch without y_stride: it compiles" compiled_sketch
check "the sketch without y_stride is refused" eval '! judged_sketch'
mv out refused
check "one line says why" grep -q 'y_stride' refused

# ---- a PyTorch model in bf16 ----
lines=$(sed -n '/^## A PyTorch model in bf16/,/^## /s@^\./\(lnbench choose.*\)@\1@p' "$root/docs/choosing.md")
check "the recipe for bf16 is there" test "$(wc -l <<<"$lines")" = 3
while read -r line; do
    check "$line" eval "${line%%#*} --db bf16.db && true"
done <<<"$lines"

# ---- many machines: two tasks of each kind, here ----
block() { awk -v n="$1" '/^```/ { on = !on; count += on; next } on && count == n' "$root/docs/recipes/README.md"; }
mkdir "$scratch/many" && cd "$scratch/many" || exit 1
printf '#!/bin/bash\nexec bash -c "$3"\n' >"$scratch/bin/ssh" && chmod +x "$scratch/bin/ssh" # -n HOST COMMAND
printf 'one\ntwo\n' >hosts
export KERNEL=two_pass_f32_scalar TIME=0.2 SLURM_ARRAY_TASK_ID
for SLURM_ARRAY_TASK_ID in 1 2; do check "many machines: task $SLURM_ARRAY_TASK_ID" bash -ec "$(block 1)"; done
check "many machines: the joined files replay" bash -ec "$(block 3)"
check "many machines: two seeds" grep -q 'seed 1' finds/1.txt && grep -q 'seed 2' finds/2.txt
rm -r finds
check "many machines: ssh" bash -ec "$(block 2)"
check "many machines: ssh, the joined files replay" bash -ec "$(block 3)"
[ $failures = 0 ] && echo "all recipes ran"
exit $((failures > 0))
