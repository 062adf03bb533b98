# What duet's rule of today, where the confirmation's interval decides alone, makes of stored trials: alarms and open answers then and now.
#     awk -f results/duet_replay.awk results/duet_trials*.tsv
BEGIN { FS = "\t" }
/^#/ || $1 == "plant" || $9 ~ /^(null)?$/ || $2 ~ /accuracy/ { next }
{
    threshold = match($2, /--threshold [0-9.]+%/) ? substr($2, RSTART + 12, RLENGTH - 13) / 100 : 0.02
    slower = $10 > 1 + threshold
    faster = $11 < 1 / (1 + threshold)
    same = $10 >= 1 / (1 + threshold) && $11 <= 1 + threshold
    kind = sprintf("%-11s threshold %g %%", $1, 100 * threshold)
    trials[kind]++
    alarms_then[kind] += $8 == "slower" || $8 == "faster"
    alarms[kind] += slower || faster
    open_then[kind] += $8 == "inconclusive"
    open[kind] += !slower && !faster && !same
}
END {
    for (kind in trials)
        printf "%s: %d trials, alarms %d, now %d; open %d, now %d\n", kind, trials[kind], alarms_then[kind], alarms[kind],
            open_then[kind], open[kind] | "sort"
}
