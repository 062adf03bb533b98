# The words of store formats 14 and 15 and those of format 16. The golden outputs of before, put through this table, are those of
# after, except for the widths of aligned tables and the intervals of copies, which are drawn from the kernel's name:
#     sed -E -f terms.sed OUTPUT_OF_BEFORE
s/\<roof_ratio\>/copy_ratio/g
s/\<roof_lo\>/copy_ratio_lo/g
s/\<roof_hi\>/copy_ratio_hi/g
s/\<roof_copy/copy/g
s/lnbench-record-3/lnbench-record-4/g
s/lnbench-benchmark-2/lnbench-benchmark-3/g
s/lnbench-(choose|history)-1/lnbench-\1-2/g
s/lnbench-(compare|duet)-2/lnbench-\1-3/g
# verdicts
s/\<wrong \((inaccurate|wrong-class|overrun|crashed|timeout|input-modified|state-changed|nondeterministic)/fail (\1/g
s/\<limit \((inaccurate|wrong-class)/type-limited (\1/g
s/\<right \(no bound/pass (no bound/g
s/\<declined \(/unsupported (/g
s/"verdict": "right"/"verdict": "pass"/g
s/"verdict": "wrong"/"verdict": "fail"/g
s/"verdict": "limit"/"verdict": "type-limited"/g
s/"verdict": "declined"/"verdict": "unsupported"/g
s/"verdict": "lost"/"verdict": "missing"/g
s/(["\t,])right([\t,])/\1pass\2/g
s/([\t,])wrong([\t,])/\1fail\2/g
s/([\t,])limit([\t,])/\1type-limited\2/g
s/([\t,])declined([\t,])/\1unsupported\2/g
s/([\t,])lost([\t,])/\1missing\2/g
s/^verdict right$/verdict pass/
# cells, and what explains them
s/\<([0-9]+) wrong\>/\1 fail/g
s/\<([0-9]+) limit\>/\1 type-limited/g
s/([ |] +)right( +[|]? *(all|[0-9]+\/[0-9]+)\>)/\1pass\2/g
s/\(limit: no/(type-limited: no/g
s/; extremes: /; edge cases: /g
s/\<extremes\>/edge cases/g
s/\<usable\>/digits/g
s/\<Usable: cases that are right/Digits: cases that pass/g
s/; wrong on ([0-9]+) of/; fails on \1 of/g
s/: right on ([0-9]+) of/: passes on \1 of/g
s/, a limit of ([a-z0-9]+) on /, type-limited (\1) on /g
s/\<is wrong on ([0-9]+) of/fails on \1 of/g
s/\<is at the limit of its types on ([0-9]+) of/is type-limited on \1 of/g
s/, all extreme\>/, all edge cases/g
# counts
s/\<asked ([0-9]+), (judged|compared)/requested \1, \2/g
s/, declined ([0-9]+)/, unsupported \1/g
s/, lost ([0-9]+)/, missing \1/g
s/\<([0-9]+ of [0-9]+) lost\>/\1 missing/g
s/what it lost is not known/what is missing is not known/g
# columns and keys, in headings of TSV, CSV and SQL and in JSON
/(\<kernel|\<state|\<id)[\t,]/{
s/([\t,])fail([\t,])limited([\t,])/\1failed\2type_limited\3/
s/([\t,])hunted\>/\1adversarial/
s/([\t,])extreme\>/\1edge_case/
s/([\t,])digits\>/\1has_correct_digits/
s/([\t,])asked\>/\1requested/
s/([\t,])declined\>/\1unsupported/
s/([\t,])lost\>/\1missing/
s/([\t,])roof([\t,]regime)/\1is_copy\2/
s/([\t,])roof([\t,])/\1copy\2/
}
s/^started(.*)[\t]asked[\t]done[\t]declined[\t]lost/started\1\trequested\tdone\tunsupported\tmissing/
s/^started(.*)[\t]asked[\t]done[\t]unsupported[\t]lost/started\1\trequested\tdone\tunsupported\tmissing/
s/"digits":/"has_correct_digits":/g
s/"asked":/"requested":/g
s/"declined":/"unsupported":/g
s/"lost":/"missing":/g
s/"lost_names":/"missing_names":/g
s/"hunted_row_ulp":/"adversarial_row_ulp":/g
s/"type": "lost"/"type": "missing"/g
s/"extra": "right"/"extra": "pass"/g
s/"label": "right"/"label": "pass"/g
s/"label": "take"/"label": "recommended"/g
# the recommended kernel, of tables and charts
s/^take( {2,}|\t|:|, GB\/s$|$)/recommended\1/
s/^(\| )take\>/\1recommended/
s/(\t|, )take([\t:]|$|  )/\1recommended\2/g
s/\<take\t/recommended\t/
s/\<take: /recommended: /g
s/\<take_gbps\>/recommended_gbps/g
s/^roof([\t_])/copy\1/
# words in sentences
s/one of its cases was lost/one of its cases is missing/g
s/of its cases were lost/of its cases are missing/g
s/^(- )?lost: /\1missing: /
s/, declined or lost has nothing/, is unsupported or missing has nothing/g
s/--allow-lost/--allow-missing/g
s/rows hunted for others/adversarial rows/g
s/\<hunted (rows|ones)\>/adversarial \1/g
s/^right$/pass/
s/"label": "declined"/"label": "unsupported"/g
s/"label": "lost"/"label": "missing"/g
s/\<but extreme ones \(/but edge cases (/g
s/\<that (is|are) not extreme\>/that \1 no edge case/g
s/\<of the roof\>/of the copy/g
s/^(line.*\terror\t)wrong$/\1failed/
s/not told apart from the best/no significant difference to the best/g
s/not told apart from it/no significant difference to it/g
s/roof\\_ratio/copy\\_ratio/g
s/share of the copy roof/share of the copy bandwidth/g
s/what ([a-z]+) asked for is not known \(an older run or file\): what it lost itself is not seen/what \1 requested is not known (an older run or file): what is missing from it is not seen/g
s/\<Take: the fastest/Recommended: the fastest/g
s/\<those hunted for other kernels/adversarial ones/g
s/\| right \|/| pass |/g
