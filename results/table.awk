# The figures of a run as figures.awk reads them, from `lnbench export --format tsv`: a block a timed
# shape, fastest first, then a line a kernel with what was judged of it.
#     lnbench export --format tsv | awk -f table.awk >table.txt

BEGIN { FS = "\t" }

# Three significant digits, as lnbench shows them.
function short(v) {
    if (v == "nan" || v == "")
        return "-"
    v += 0
    if (v == 0)
        return "0"
    if (v >= 99950 || v < 0.00995)
        return sprintf("%.1e", v)
    if (v >= 99.95)
        return sprintf("%.0f", v)
    if (v >= 9.995)
        return sprintf("%.1f", v)
    return sprintf(v >= 0.9995 ? "%.2f" : "%.3f", v)
}

NR == 1 {
    for (i = 1; i <= NF; i++)
        f[$i] = i
    next
}

{ kernel = $f["kernel"]; verdict = $f["verdict"]; reason = $f["reason"] }

$f["time_ns"] != "nan" {
    group = $f["rows"] " x " $f["hidden"] " " $f["dtype"] ", " $f["convention"] ", " $f["regime"] \
        ", " ($f["cache"] == "in-place" ? "in place" : $f["cache"] " cache") ", " $f["threads"] \
        ($f["threads"] == 1 ? " thread" : " threads")
    if (!(group in lines))
        groups[++group_count] = group
    n = ++lines[group]
    figures = short($f["ulp_max"]) "  " short($f["ulp_mean"]) "  " short($f["row_ulp_max"]) "  " \
        short($f["bound_row_ulp"])
    line = sprintf("%-48s %s  %.3f [%.3f, %.3f]  %s  %s  %s", kernel, short($f["gbps"]),
        $f["copy_ratio"], $f["copy_ratio_lo"], $f["copy_ratio_hi"], figures, $f["reproducibility"],
        verdict (reason ? " (" reason ")" : ""))
    for (; n > 1 && time[group, n - 1] > $f["time_ns"] + 0; n--) {
        time[group, n] = time[group, n - 1]
        text[group, n] = text[group, n - 1]
    }
    time[group, n] = $f["time_ns"] + 0
    text[group, n] = line
}

verdict && kernel !~ /^copy(_nt|_rep)?$/ {
    if (!(kernel in cases))
        kernels[++kernel_count] = kernel
    cases[kernel]++
    right[kernel] += verdict == "pass" && !reason
    unclaimed[kernel] += verdict == "pass" && reason == "no bound"
    excused[kernel] += $f["declared"]
    declined[kernel] += verdict == "unsupported"
    fine = verdict == "pass"
    failed[kernel] += verdict == "fail" && !$f["declared"]
    row = $f["row_ulp_max"]
    if (!fine || row == "nan")
        next
    if ($f["input"] == "normal" && row + 0 > normal[kernel])
        normal[kernel] = row + 0
    if (row + 0 > worst[kernel])
        worst[kernel] = row + 0
}

END {
    for (g = 1; g <= group_count; g++) {
        print "\n" groups[g]
        print "kernel  GB/s  share of copy  max ULP  mean ULP  row ULP  proven  reproducible  verdict"
        for (n = 1; n <= lines[groups[g]]; n++)
            print text[groups[g], n]
    }
    print "\naccuracy over all conventions and inputs"
    print "kernel  cases  pass  no bound  type-limited  unsupported  fail  row ULP, normal  worst row ULP"
    for (i = 1; i <= kernel_count; i++) {
        k = kernels[i]
        printf "%-48s %d  %d  %d  %d  %d  %d  %s  %s\n", k, cases[k], right[k], unclaimed[k],
            excused[k], declined[k], failed[k], short(normal[k]), short(worst[k])
    }
}
