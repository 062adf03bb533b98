/* What a browser makes of the page: appended to a copy of it by page_test.sh, which shows the copy in
 * a frame of the wanted width (windows have a least one), and read from the DOM that the browser
 * leaves. window.lost counts what could not be fetched. */
window.addEventListener('load', function () {
    var said = [];
    function say(what, value) { said.push(what + '=' + value); }
    document.querySelectorAll('details').forEach(function (d) { d.open = true; });
    say('charts', document.querySelectorAll('figure svg').length);
    say('empty', Array.prototype.filter.call(document.querySelectorAll('figure svg'), function (s) {
        var box = s.getBoundingClientRect();
        return box.width < 300 || box.height < 100 || s.querySelectorAll('path').length < 5;
    }).length);
    say('fetched', performance.getEntriesByType('resource').length + window.lost);
    say('overflow', document.documentElement.scrollWidth > window.innerWidth ? 'yes' : 'no');
    say('width', window.innerWidth);
    var unsorted = 0, tables = 0;
    document.querySelectorAll('table').forEach(function (table) {
        var heads = table.querySelectorAll('th[data-sort]');
        if (!heads.length || table.tBodies[0].rows.length < 2) return;
        tables++;
        heads.forEach(function (head) {
            ['ascending', 'descending'].forEach(function (way) {
                head.click();
                var last = null, i = head.cellIndex;
                if (head.getAttribute('aria-sort') !== way) unsorted++;
                Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
                    var cell = row.cells[i], number = cell.dataset.value !== undefined;
                    var value = number ? parseFloat(cell.dataset.value) : cell.textContent;
                    if (value !== value) return;
                    if (last !== null && (way === 'ascending' ? value < last : value > last))
                        unsorted++;
                    last = value;
                });
            });
        });
    });
    say('tables', tables);
    say('unsorted', unsorted);
    say('tips', document.querySelectorAll('figure svg g > title').length);
    say('harmed', window.harmed ? 'yes' : 'no');
    window.top.document.body.setAttribute('data-probe', said.join(' '));
});
