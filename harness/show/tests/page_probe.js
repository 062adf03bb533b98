/* Reports how a browser renders the page. page_test.sh appends it to a copy of the page, shows the copy in a frame of
 * the wanted width (windows have a minimum), and reads the result from the DOM. window.lost counts failed fetches. */
/* Contrast of a text with its background, by WCAG 2.1. */
function luminance(channels) {
    return [0.2126, 0.7152, 0.0722].reduce(function (sum, weight, i) {
        var c = channels[i] / 255;
        return sum + weight * (c <= 0.03928 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4));
    }, 0);
}
function channels(colour) { return (colour.match(/[0-9.]+/g) || []).map(Number); }
function contrast(element) {
    var ink = luminance(channels(getComputedStyle(element).color)), behind = element, ground;
    for (; behind; behind = behind.parentElement) {
        ground = channels(getComputedStyle(behind).backgroundColor);
        if (ground.length === 3 || ground[3] > 0) break;
    }
    var paper = luminance(behind ? ground : [255, 255, 255]);
    return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
}

window.addEventListener('load', function () {
    var said = [];
    function say(what, value) { said.push(what + '=' + value); }
    function count(selector, fits) {
        return Array.prototype.filter.call(document.querySelectorAll(selector), fits).length;
    }
    function seen(e) { return e.getClientRects().length > 0; }
    function wider(e) { return e.scrollWidth > e.clientWidth + 1; }
    /* The answer and its chart are on the first screen, 1280 x 800 or a phone's 400 x 800. */
    var figure = document.querySelector('#answer figure');
    say('first', figure && figure.getBoundingClientRect().bottom <= 800 ? 'yes' : 'no');
    say('screens', Math.ceil(document.documentElement.scrollHeight / 800));
    say('hollow', count('section', function (s) { /* only a heading */
        return seen(s) && Array.prototype.filter.call(s.children, seen).length < 2;
    }));
    say('folded', count('summary', seen));
    document.querySelectorAll('details').forEach(function (d) { d.open = true; });
    say('wide', count('.table, nav, #answer .chart', wider));
    say('charts', count('figure svg', seen));
    say('empty', count('figure svg', function (s) {
        var box = s.getBoundingClientRect();
        return box.width < 300 || box.height < 100 || s.querySelectorAll('path').length < 5;
    }));
    say('fetched', performance.getEntriesByType('resource').length + window.lost);
    say('overflow', document.documentElement.scrollWidth > window.innerWidth ? 'yes' : 'no');
    say('width', window.innerWidth);
    say('tall', count('figure', function (f) { /* higher than the printable part of a sheet */
        return f.getBoundingClientRect().height > 1000;
    }));
    var texts = Array.prototype.filter.call(document.querySelectorAll('body *'), function (e) {
        return !e.closest('svg, script, style') && Array.prototype.some.call(e.childNodes,
            function (n) { return n.nodeType === 3 && n.textContent.trim(); });
    });
    say('texts', texts.length);
    say('faint', texts.filter(function (e) { return contrast(e) < 4.5; }).length);
    var unsorted = 0, tables = 0;
    document.querySelectorAll('table').forEach(function (table) {
        var heads = table.querySelectorAll('th button');
        if (!heads.length || table.tBodies[0].rows.length < 2) return;
        tables++;
        heads.forEach(function (head) {
            ['ascending', 'descending'].forEach(function (way) {
                head.click();
                var last = null, th = head.parentNode, i = th.cellIndex;
                if (th.getAttribute('aria-sort') !== way) unsorted++;
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
