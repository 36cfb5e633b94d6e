#include "orchestrator/report/formats/html_assets.h"

namespace rematch::report {

std::string_view html_style() {
  return R"css(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1d21;--mu:#5b6169;--li:#dcdfe4;--pa:#f5f7fa;--ac:#0a56a5;--sh:#0003;
--c0:#0a56a5;--c1:#b84a00;--c2:#1a7a4a;--c3:#853a9c;--c4:#8a6100;--c5:#00727f;--c6:#b0235a;--c7:#555b63}
@media screen and (prefers-color-scheme:dark){:root{--bg:#15171b;--fg:#e7e9ec;--mu:#a3a9b1;--li:#363a41;--pa:#1d2026;--ac:#7db8ff;--sh:#000c;
--c0:#7db8ff;--c1:#ffa866;--c2:#62d197;--c3:#d6a0ea;--c4:#e2c05a;--c5:#55cfdd;--c6:#ff8fb3;--c7:#b4bac2}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;
overflow-wrap:anywhere}
header,main{max-width:82rem;margin:0 auto;padding:0 1.25rem}
h1{font-size:1.625rem;line-height:1.25;font-weight:650;margin:2rem 0 .75rem}
h2{font-size:1.125rem;line-height:1.35;font-weight:650;margin:0 0 .75rem}
section{margin:2.75rem 0}
p,li,dd{max-width:48rem}
a{color:var(--ac)}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:.5rem;padding:.25rem .75rem;background:var(--bg)}
:focus-visible{outline:2px solid var(--ac);outline-offset:2px}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.125rem;list-style:none;margin:0;padding:0;font-size:.875rem}
dl{margin:0}
dd{margin:0}
.facts{display:grid;grid-template-columns:minmax(8rem,max-content) 1fr;gap:.375rem 1.5rem;font-size:.9375rem}
.facts dt{color:var(--mu)}
.facts dd{font-variant-numeric:tabular-nums}
.answer{padding:1.25rem 1.5rem;background:var(--pa);border-left:4px solid var(--ac);border-radius:4px;margin-top:1.75rem}
.lead{font-size:1.375rem;line-height:1.35;margin:0 0 1rem}
.findings dt{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.875rem;margin-top:1.25rem}
.findings dd{margin-top:.25rem}
.scroll{overflow-x:auto;max-width:100%;background:linear-gradient(to left,var(--bg) 40%,transparent) right/3rem 100% no-repeat local,
linear-gradient(to left,var(--sh),transparent) right/.875rem 100% no-repeat scroll}
table{border-collapse:collapse;font-size:.8125rem;line-height:1.4;font-variant-numeric:tabular-nums}
th,td{padding:.4375rem .75rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--li)}
td,tbody th{min-width:max-content;max-width:26rem}
thead th{color:var(--mu);font-weight:600;vertical-align:bottom;border-bottom:1px solid var(--mu);white-space:nowrap;padding-bottom:.25rem}
tbody th{font-weight:500;position:sticky;left:0;background:var(--bg)}
table{width:max-content}
.n{text-align:right;white-space:nowrap}
td.m,th.m{color:var(--mu)}
.chosen>*{background:var(--pa)}
.chosen>th{font-weight:700}
thead button{font:inherit;color:inherit;background:none;border:0;padding:.25rem 0;margin:0;cursor:pointer;text-align:inherit}
thead button::after{content:"\25B2" / "";font-size:.625rem;margin-left:.25rem;visibility:hidden}
th.n button::after{margin:0 -.75rem 0 .125rem}
[aria-sort] button{color:var(--fg)}
[aria-sort] button::after{visibility:visible}
[aria-sort=descending] button::after{content:"\25BC" / ""}
summary{cursor:pointer;width:fit-content;max-width:100%}
summary h2{display:inline;vertical-align:middle}
summary span{color:var(--mu);font-size:.875rem}
details>summary+*{margin-top:.875rem}
nav summary{font-size:.875rem}
.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr));gap:2.25rem 3rem}
.plots+*{margin-top:2.25rem}
figure{margin:0;min-width:0;break-inside:avoid}
figcaption{font-size:.8125rem;line-height:1.45;color:var(--mu);margin-bottom:.75rem;max-width:34rem}
figcaption b{display:block;font-size:.9375rem;font-weight:600;color:var(--fg)}
pre{margin:0 0 1rem;padding:.875rem 1rem;background:var(--pa);border-radius:4px;font:.8125rem/1.5 ui-monospace,Menlo,Consolas,monospace;
white-space:pre-wrap;user-select:all}
svg{display:block;width:100%;max-width:34rem;height:auto;font-size:26px;font-variant-numeric:tabular-nums}
svg.hatches{position:absolute;width:0;height:0}
svg text{fill:var(--fg);stroke:var(--bg);stroke-width:6px;stroke-linejoin:round;paint-order:stroke}
svg .t{fill:var(--mu)}
svg .n{font-weight:600}
svg .c{text-anchor:middle}
svg .e{text-anchor:end}
svg :is(.g,.a,.k,.w,.l,.h){fill:none;stroke:var(--li);stroke-width:2}
svg .a{stroke:var(--mu)}
svg .k{stroke:var(--mu);stroke-dasharray:5 7}
svg .w{stroke:var(--ac);stroke-width:3;stroke-dasharray:10 8}
svg .p{fill:var(--ac)}
svg .o{fill:var(--bg);stroke:var(--mu);stroke-width:3}
svg .i{fill:var(--mu);fill-opacity:.55}
svg .l{stroke:var(--c);stroke-width:3;stroke-linejoin:round;stroke-linecap:round}
svg .m{stroke-width:5}
svg .y{fill:var(--c);fill-opacity:.13;stroke:var(--c);stroke-width:3}
svg .b{stroke:var(--bg);stroke-width:2}
svg .f{fill:var(--c)}
svg .h{stroke:var(--bg);stroke-width:2;stroke-opacity:.75}
.s0,.s8{--c:var(--c0)}.s1,.s9{--c:var(--c1)}.s2,.s10{--c:var(--c2)}.s3,.s11{--c:var(--c3)}
.s4,.s12{--c:var(--c4)}.s5,.s13{--c:var(--c5)}.s6,.s14{--c:var(--c6)}.s7,.s15{--c:var(--c7)}
@media(max-width:40rem){header,main{padding:0 1rem}.facts{grid-template-columns:1fr;gap:0}.facts dd{margin-bottom:.5rem}
.answer{padding:1rem}tbody th{max-width:40vw}td{max-width:18rem}}
@page{size:landscape;margin:12mm}
@media print{:root{font-size:10pt}body{font-size:1rem}header,main{max-width:none;padding:0}nav,.skip{display:none}section{margin:1.5rem 0}
.scroll{overflow:visible}table{width:auto;max-width:100%;font-size:6.5pt}th,td,thead th,.n{padding:2pt 3pt;white-space:normal;overflow-wrap:normal}td,tbody th{max-width:11rem}thead{display:table-header-group}
tr{break-inside:avoid}h2,figcaption{break-after:avoid}tbody th{position:static}.plots{grid-template-columns:1fr 1fr}
details::details-content{content-visibility:visible;height:auto}thead button::after{content:none}}
)css";
}

std::string_view html_script() {
  return R"js(
{
const texts = new Intl.Collator(undefined, {numeric: true});
const counted = /^([+-]\d|\d+\/\d+$)/;
const key = cell => cell.classList.contains("m") ? null
  : cell.dataset.v !== undefined ? Number(cell.dataset.v) : counted.test(cell.textContent) ? parseFloat(cell.textContent) : cell.textContent;
const order = (a, b) => typeof a === typeof b ? (typeof a === "number" ? a - b : texts.compare(a, b)) : typeof a === "number" ? -1 : 1;
const sorted = (rows, column, sign) => rows.map(row => [key(row.cells[column]), row])
  .sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) : sign * order(a, b)).map(([, row]) => row);
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0], rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => {
      const next = {ascending: "descending", descending: null}[head.getAttribute("aria-sort")];
      const sort = next === undefined ? "ascending" : next;
      for (const other of heads) other.removeAttribute("aria-sort");
      if (sort) head.setAttribute("aria-sort", sort);
      body.append(...(sort ? sorted(rows, column, sort === "ascending" ? 1 : -1) : rows));
    });
    head.append(button);
  });
}
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const details of closed) details.open = true;
});
addEventListener("afterprint", () => { for (const details of closed) details.open = false; });
}
)js";
}

std::string_view html_script_hash() { return "sha256-xV/RqnKeD90lzXKexL7WG+GmeppYtryf9j0QYtwK/2A="; }

}  // namespace rematch::report
