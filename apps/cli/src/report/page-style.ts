// SPDX-License-Identifier: Apache-2.0
/**
 * pageStyle is the style sheet of reports: light and dark, from 360 pixels on, and on paper. States differ in shape as well as
 * in colour.
 */

export const pageStyle = `
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1b2530; --soft: #57636f; --line: #d3dae1; --panel: #f4f6f8; --link: #0b5cad;
  --error: #b3261e; --warning: #855300; --info: #0b5cad; --healthy: #1a6b3c; --unknown: #57636f;
  --pod: #0b5cad; --free: #fff; --maybe: #7aa7d6; --plain: #dfe4e9; --pcb: #e7f0ea; --pcb-line: #9cb8a6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12181f; --ink: #e6ebf0; --soft: #a4b0bc; --line: #36424e; --panel: #1b232c; --link: #7fbaf5;
    --error: #ff9d94; --warning: #f0bd60; --info: #7fbaf5; --healthy: #7fd6a2; --unknown: #a4b0bc;
    --pod: #7fbaf5; --free: #12181f; --maybe: #3c6a98; --plain: #36424e; --pcb: #17251d; --pcb-line: #3d5a48;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", Roboto, sans-serif; }
main, header, footer { max-width: 1500px; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 1.25rem; border-bottom: 1px solid var(--line); }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; } h3 { font-size: 1.05rem; margin: 0; overflow-wrap: anywhere; }
h4 { font-size: 1rem; margin: 0; }
a { color: var(--link); } a:focus-visible, summary:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -999rem; } .skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .25rem .5rem; }
nav ul, .tiles, .plain { list-style: none; margin: 0; padding: 0; } nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: .6rem 0; }
.result { font-size: 1.1rem; margin: .25rem 0 .75rem; }
dl.facts { display: flex; flex-wrap: wrap; gap: .1rem 1.5rem; margin: 0; color: var(--soft); font-size: .875rem; }
dl.facts div { display: flex; gap: .4rem; min-width: 0; } dt::after { content: ":"; } dd { margin: 0; overflow-wrap: anywhere; color: var(--ink); }
code, .step { font: .875em/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.panel { background: var(--panel); border: 1px solid var(--line); border-left-width: 5px; border-radius: 6px; padding: .75rem 1rem; margin: .75rem 0; }
.panel.error, .panel.reboot { border-left-color: var(--error); } .panel.warning, .panel.drain { border-left-color: var(--warning); } .panel.info { border-left-color: var(--info); }
.panel p { margin: .35rem 0; overflow-wrap: anywhere; }
.sign { font-weight: 700; } .error > .sign, .sign.error { color: var(--error); } .warning > .sign, .sign.warning { color: var(--warning); }
.info > .sign, .sign.info { color: var(--info); } .healthy > .sign { color: var(--healthy); } .unknown > .sign { color: var(--unknown); }
.one { border-top: 1px solid var(--line); padding-top: .5rem; margin-top: .5rem; }
.one ul { margin: .25rem 0; padding-left: 1.25rem; overflow-wrap: anywhere; } .soft { color: var(--soft); }
.scroll { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; font-size: .875rem; } caption { text-align: left; color: var(--soft); padding: .15rem 0; }
th, td { text-align: left; vertical-align: top; padding: .15rem .9rem .15rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
thead th { color: var(--soft); font-weight: 600; } td.n, th.n { text-align: right; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); gap: 4px; }
.tiles li { border: 1px solid var(--line); border-radius: 4px; padding: .1rem .45rem; font-size: .8125rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; background: var(--panel); }
.tiles .error, .tiles .warning { border-width: 2px; } .tiles .error { border-color: var(--error); } .tiles .warning { border-color: var(--warning); }
.tiles a { color: inherit; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; } summary { padding: .4rem .75rem; cursor: pointer; overflow-wrap: anywhere; }
summary h3 { display: inline; font-size: 1rem; } .node { padding: 0 .75rem .75rem; }
.card { background: var(--pcb); border: 1px solid var(--pcb-line); border-left: 10px solid var(--soft); border-radius: 4px; padding: .5rem .75rem; min-width: 0; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 32rem), 1fr)); gap: .5rem; margin-top: .5rem; align-items: start; }
.card p { margin: .1rem 0; overflow-wrap: anywhere; }
.vfs { display: flex; flex-wrap: wrap; gap: 3px 0; margin: .35rem 0; }
.vfs i, .key { display: inline-block; height: 14px; width: calc(var(--n, 1) * 14px); flex: none; border: solid var(--pcb); border-width: 0 0 0 2px; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
.vfs .p, .key.p { background: repeating-linear-gradient(90deg, var(--pod) 0 12px, var(--pcb) 12px 14px); }
.vfs .m, .key.m { background: repeating-linear-gradient(90deg, transparent 0 12px, var(--pcb) 12px 14px), repeating-linear-gradient(135deg, var(--pod) 0 2px, var(--free) 2px 5px); }
.vfs .f, .key.f { background: repeating-linear-gradient(90deg, transparent 0 12px, var(--pcb) 12px 14px), linear-gradient(var(--soft) 2px, transparent 2px 12px, var(--soft) 12px), repeating-linear-gradient(90deg, var(--soft) 0 2px, var(--free) 2px 10px, var(--soft) 10px 14px); }
.vfs .n, .key.n { background: repeating-linear-gradient(90deg, var(--plain) 0 12px, var(--pcb) 12px 14px); }
.keys { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; font-size: .875rem; color: var(--soft); margin: .35rem 0; padding: 0; list-style: none; } .key { vertical-align: -2px; }
.step { display: block; padding-left: 1.4em; text-indent: -1.4em; } .step b { display: inline-block; width: 1.4em; text-indent: 0; }
footer { color: var(--soft); font-size: .875rem; padding-bottom: 2rem; margin-top: 2rem; }
@media print {
  body { font-size: 11px; } nav, .skip { display: none; } main, header, footer { max-width: none; padding: 0; }
  details::details-content { content-visibility: visible; block-size: auto; }
  .panel, .card, .one { break-inside: avoid; }
}
`
  .trim()
  .replaceAll("\n", "");
