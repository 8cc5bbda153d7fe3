// What is wrong with the look of a page, as sentences. Called with whether boxes of tables and pictures may scroll.
(scrolling) => {
  const found = [], width = document.documentElement.clientWidth;
  const named = (element) => {
    const text = (element.textContent || "").trim().replace(/\s+/g, " ").slice(0, 40);
    return `<${element.tagName.toLowerCase()} class="${element.getAttribute("class") || ""}"> ${text}`;
  };
  const seen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });

  // Widths: nothing beyond the page, unless it is in a box of its own that scrolls.
  const root = document.documentElement;
  if (root.scrollWidth > width) found.push(`the page is ${root.scrollWidth} px wide`);
  const scrolls = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
  const boxed = (element) => {
    for (let box = element.parentElement; box && box !== document.body; box = box.parentElement) if (scrolls(box)) return true;
    return false;
  };
  for (const element of document.body.querySelectorAll("*")) {
    if (!seen(element)) continue;
    const at = element.getBoundingClientRect();
    if (at.width && (at.right > width + 1 || at.left < -1) && !boxed(element)) found.push(`beyond the page: ${named(element)}`);
    const rigid = element.tagName === "PRE" || (scrolling && [...element.querySelectorAll("tbody tr, svg")].some(
      (part) => part.tagName === "svg" || getComputedStyle(part).display === "table-row"));
    if (scrolls(element) && !rigid && element.scrollWidth > element.clientWidth + 1)
      found.push(`scrolls by ${element.scrollWidth - element.clientWidth} px: ${named(element)}`);
  }

  // Contrast of text, WCAG 2.1: 4.5, and 3 where letters are large.
  const parsed = (color) => {
    const parts = (color.match(/[\d.e-]+/g) || []).map(Number);
    const scale = color.startsWith("color(") ? 255 : 1;
    return { rgb: parts.slice(0, 3).map((part) => part * scale), alpha: parts.length > 3 ? parts[3] : 1 };
  };
  const over = (color, ground) => color.rgb.map((part, i) => part * color.alpha + ground[i] * (1 - color.alpha));
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((part) => part / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const once = (computed) => {
    const known = new Map();
    return (element) => {
      if (!known.has(element)) known.set(element, computed(element));
      return known.get(element);
    };
  };
  const opacity = once((element) => (element ? opacity(element.parentElement) * Number(getComputedStyle(element).opacity) : 1));
  const ground = once((element) =>
    element ? over(parsed(getComputedStyle(element).backgroundColor), ground(element.parentElement)) : [255, 255, 255]);
  const filled = (element) => {
    const style = getComputedStyle(element), color = style.fill === "none" ? null : parsed(style.fill);
    return color && { ...color, alpha: color.alpha * Number(style.fillOpacity) * opacity(element) };
  };
  const shapes = once((picture) => [...picture.querySelectorAll("path, rect, circle")].map((shape) => ({
    shape, box: shape.getBoundingClientRect(), color: filled(shape),
  })).filter(({ color }) => color && color.alpha));
  const painted = (text, picture) => { // what is drawn under a text of a picture
    const at = text.getBoundingClientRect(), x = at.left + at.width / 2, y = at.top + at.height / 2;
    const style = getComputedStyle(text);
    if (style.paintOrder.startsWith("stroke") && style.stroke !== "none" && parseFloat(style.strokeWidth) >= 2) return parsed(style.stroke).rgb;
    return shapes(picture)
      .filter(({ box }) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom)
      .filter(({ shape }) => shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)
      .reduce((below, { color }) => over(color, below), ground(picture.parentElement));
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.nodeValue.trim() || !seen(element) || element.closest("script, title, .tip")) continue;
    const style = getComputedStyle(element), drawn = element.closest("svg");
    const below = drawn ? painted(element, drawn) : ground(element);
    const ink = drawn ? filled(element) : { ...parsed(style.color), alpha: parsed(style.color).alpha * opacity(element) };
    const [light, dark] = [luminance(over(ink, below)), luminance(below)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05), size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    if (ratio < least) found.push(`contrast ${ratio.toFixed(2)}: ${named(element)} on ${below.map(Math.round)}`);
  }
  return [...new Set(found)];
}
