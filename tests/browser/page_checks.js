// Looks at a page and returns what is wrong with it, a list of sentences for each of the checks.
const checks = {};
const pixel = 1;  // what rounding may move an edge by

const shown = element => element.checkVisibility({visibilityProperty: true, contentVisibilityAuto: false});
const textOf = element => (element.textContent || element.tagName).trim().slice(0, 60);

const parsed = colour => {
  const parts = colour.match(/[\d.]+/g).map(Number);
  return {rgb: parts.slice(0, 3), alpha: parts.length > 3 ? parts[3] : 1};
};
const over = (front, back) => front.rgb.map((part, i) => part * front.alpha + back[i] * (1 - front.alpha));
const background = element => {
  if (!element) return [255, 255, 255];
  const own = parsed(getComputedStyle(element).backgroundColor);
  return own.alpha === 1 ? own.rgb : over(own, background(element.parentElement));
};
const luminance = rgb => {
  const [r, g, b] = rgb.map(part => part / 255).map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};

checks.contrast = () => {
  const problems = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let count = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !shown(element) || ["SCRIPT", "title", "desc"].includes(element.tagName)) continue;
    ++count;
    const style = getComputedStyle(element);
    const back = background(element);
    const ratio = contrast(over(parsed(element instanceof SVGElement ? style.fill : style.color), back), back);
    if (ratio < 4.5) problems.push(`${ratio.toFixed(2)}: ${textOf(element)}`);
  }
  return count ? problems : ["there is no text"];
};

checks.width = () => document.documentElement.scrollWidth > innerWidth
  ? [`the page is ${document.documentElement.scrollWidth} pixels wide in a window of ${innerWidth}`] : [];

checks.structure = () => {
  const problems = [];
  const wanted = (holds, what) => { if (!holds) problems.push(what); };
  wanted(document.documentElement.lang === "en", "no language");
  wanted(document.title, "no title");
  wanted(document.querySelectorAll("h1").length === 1, "not one h1");
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4")) {
    const own = Number(heading.tagName[1]);
    wanted(own <= level + 1, `heading out of order: ${textOf(heading)}`);
    level = own;
  }
  const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
  wanted(new Set(ids).size === ids.length, "an id is used twice");
  for (const link of document.querySelectorAll("a")) wanted(document.querySelector(CSS.escape(link.hash).replace("\\#", "#")), `a link to nothing: ${link.hash}`);
  for (const named of document.querySelectorAll("[aria-labelledby]"))
    for (const id of named.getAttribute("aria-labelledby").split(" ")) wanted(document.getElementById(id), `named by nothing: ${id}`);
  for (const head of document.querySelectorAll("thead th")) wanted(head.querySelector("button"), `no button: ${textOf(head)}`);
  return problems;
};

const inside = (inner, outer) => inner.left >= outer.left - pixel && inner.right <= outer.right + pixel && inner.top >= outer.top - pixel &&
  inner.bottom <= outer.bottom + pixel;
const overlap = (a, b) => a.left + pixel < b.right && b.left + pixel < a.right && a.top + pixel < b.bottom && b.top + pixel < a.bottom;

checks.plots = () => {
  const problems = [];
  for (const figure of document.querySelectorAll("figure")) {
    const svg = figure.querySelector("svg[role=img]");
    const name = textOf(figure.querySelector("figcaption b"));
    const wrong = what => problems.push(`${name}: ${what}`);
    if (!shown(svg)) { wrong("not shown"); continue; }
    if (!svg.querySelector("title").textContent || !svg.querySelector("desc").textContent) wrong("no title or description");
    const frame = svg.getBoundingClientRect();
    if (frame.width < 100 || frame.height < 60) wrong(`only ${frame.width} by ${frame.height} pixels`);
    const marks = [...svg.querySelectorAll("path, circle")].map(mark => mark.getBoundingClientRect());
    const labels = [...svg.querySelectorAll("text")].map(label => ({text: textOf(label), box: label.getBoundingClientRect()}));
    if (!marks.some(box => box.width && box.height) || !labels.length) wrong("nothing is drawn");
    for (const box of marks) if (!inside(box, frame)) wrong("a mark is outside");
    labels.forEach((label, i) => {
      if (!label.box.width || !label.box.height) wrong(`without extent: ${label.text}`);
      if (!inside(label.box, frame)) wrong(`outside: ${label.text}`);
      for (const other of labels.slice(i + 1)) if (overlap(label.box, other.box)) wrong(`on each other: ${label.text} and ${other.text}`);
    });
  }
  return problems;
};

// Everything that is folded away on a screen.
checks.unfolded = () => [...document.querySelectorAll("main details > :not(summary), main details table, main details figure")]
  .filter(element => !shown(element) || !element.getBoundingClientRect().height).map(element => `not shown: ${textOf(element)}`);

checks.glyphs = () => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  canvas.font = `40px ${getComputedStyle(document.body).fontFamily}`;
  const ink = text => {
    canvas.clearRect(0, 0, 300, 150);
    canvas.fillText(text, 5, 60);
    return canvas.getImageData(0, 0, 300, 150).data.filter((value, i) => i % 4 === 3 && value > 0).length;
  };
  const [none, full, dot] = [ink(" "), ink("M"), ink(".")];
  return none === 0 && dot > 0 && full > 2 * dot ? [] : [`letters are not drawn (${none}, ${dot}, ${full} pixels): install a font, fonts-dejavu-core for one`];
};

return Object.fromEntries(arguments[0].map(name => [name, checks[name]()]));
