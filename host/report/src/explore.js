// Values of a picture, one at a time: where the pointer is, or by arrow keys from cell to cell once the picture has the focus.
// cells() gives boxes as shares of the picture's width and height, each with its text; say(text) shows one.
function explore(host, picture, cells, say) {
  const mark = document.createElement('div');
  mark.className = 'mark';
  mark.hidden = true;
  host.append(mark);
  let current = null;
  const middle = box => [box.x + box.width / 2, box.y + box.height / 2];
  const show = cell => {
    current = cell;
    mark.hidden = !cell;
    if (!cell) return;
    const frame = picture.getBoundingClientRect(), own = host.getBoundingClientRect();
    const left = frame.left - own.left - host.clientLeft + host.scrollLeft, top = frame.top - own.top - host.clientTop + host.scrollTop;
    mark.style.cssText = `left:${left + cell.x * frame.width}px;top:${top + cell.y * frame.height}px;width:${cell.width * frame.width}px;height:${cell.height * frame.height}px`;
    say(cell.text);
  };
  host.addEventListener('pointermove', event => {
    const frame = picture.getBoundingClientRect();
    const x = (event.clientX - frame.left) / frame.width, y = (event.clientY - frame.top) / frame.height;
    const inside = cells().filter(c => x >= c.x && x <= c.x + c.width && y >= c.y && y <= c.y + c.height);
    const smallest = inside.sort((a, b) => a.width * a.height - b.width * b.height)[0];
    if (smallest) show(smallest);
  });
  host.addEventListener('keydown', event => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === 'Escape') return show(null);
    if (!way || event.ctrlKey || event.altKey || event.metaKey) return;
    const all = cells();
    if (!all.length) return;
    event.preventDefault();
    if (!current) { show(all[0]); return; }
    const [x, y] = middle(current);
    let best = null, least = Infinity;
    for (const cell of all) {
      const [a, b] = middle(cell), along = (a - x) * way[0] + (b - y) * way[1], aside = Math.abs((a - x) * way[1]) + Math.abs((b - y) * way[0]);
      if (along > 1e-6 && along + 8 * aside < least) { least = along + 8 * aside; best = cell; }
    }
    if (best) { show(best); mark.scrollIntoView({ block: 'nearest', inline: 'nearest' }); }
  });
  host.addEventListener('blur', () => { mark.hidden = true; });
  return () => show(null);
}
// Of a drawing: all that has a tooltip. A cell is a line as wide as the cell is high, which its box does not know.
function titled(svg) {
  const frame = svg.getBoundingClientRect(), scale = svg.getScreenCTM().a;
  const cell = title => {
    const part = title.parentNode, { left, right, top, bottom } = part.getBoundingClientRect();
    const line = part.querySelector('path'), box = line?.getBoundingClientRect();
    const half = box?.height === 0 ? parseFloat(getComputedStyle(line).strokeWidth) * scale / 2 : 0;
    const from = half ? Math.min(top, box.top - half) : top, to = half ? Math.max(bottom, box.bottom + half) : bottom;
    return { x: (left - frame.left) / frame.width, y: (from - frame.top) / frame.height, width: (right - left) / frame.width, height: (to - from) / frame.height, text: title.textContent };
  };
  return [...svg.querySelectorAll('* > title')].filter(title => title.parentNode !== svg).map(cell);
}
for (const card of document.querySelectorAll('.card')) {
  const svg = card.querySelector('svg'), value = card.parentNode.querySelector('.value');
  // Thousands of cells are measured once for a size.
  let cells, width = 0;
  const measured = () => {
    const now = svg.getBoundingClientRect().width;
    if (now !== width) { cells = titled(svg); width = now; }
    return cells;
  };
  explore(card, svg, measured, text => { value.textContent = text; });
}
