// SPDX-License-Identifier: Apache-2.0
/**
 * pageTemplates are the templates of reports, in the language of Eta: `<%= %>` escapes, `<%~ %>` inserts HTML that another
 * template has made.
 */

export const pageTemplates = {
  page: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Switchyard: <%= it.report.title %></title>
<style><%~ it.style %></style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<h1>Switchyard: <%= it.report.title %></h1>
<p class="result"><%= it.report.summary %></p>
<dl class="facts"><% it.report.facts.forEach((fact) => { %><div><dt><%= fact.label %></dt><dd><%= fact.value %></dd></div><% }) %></dl>
<nav aria-label="Sections"><ul><% it.sections.forEach((section) => { %><li><a href="#<%= section.id %>"><%= section.title %></a></li><% }) %></ul></nav>
</header>
<main id="content" tabindex="-1">
<% it.sections.forEach((section) => { %><section aria-labelledby="<%= section.id %>">
<h2 id="<%= section.id %>"><%= section.title %></h2>
<%~ section.html %></section>
<% }) %></main>
<footer><p>This file needs no network. It shows the cluster as it was read, and does not change.</p></footer>
</body>
</html>
`,

  findings: `<% if (it.groups.length === 0) { %><p>Nothing is wrong.</p>
<% } %><% it.groups.forEach((group) => { %><div class="panel <%= group.severity %>">
<h3><span class="sign <%= group.severity %>"><%= it.signs[group.severity] %> <%= group.severity %></span> <%= group.code %><% if (group.count > 1) { %> <span class="soft">(<%= group.count %> objects)</span><% } %></h3>
<p class="soft"><%= group.cause %></p>
<% group.findings.forEach((finding) => { %><div class="one">
<p><% if (finding.id) { %><a href="#<%= finding.id %>"><%= finding.object %></a><% } else { %><b><%= finding.object %></b><% } %><% if (finding.field) { %> <code><%= finding.field %></code><% } %></p>
<p><%= finding.message %></p>
<% if (finding.evidence.length > 0) { %><ul><% finding.evidence.forEach((line) => { %><li><%= line %></li><% }) %></ul>
<% } %><p>Next: <code><%= finding.next %></code></p>
<% if (finding.consequences) { %><p class="soft">Consequences:</p>
<ul><% finding.consequences.forEach((line) => { %><li><%= line %></li><% }) %></ul>
<% } %></div>
<% }) %><% if (group.more) { %><p class="one">The same for: <%= group.more %></p>
<% } %></div>
<% }) %>`,

  results: `<div class="scroll" tabindex="0" role="region" aria-label="Results by kind"><table><caption>Objects by result</caption>
<thead><tr><th scope="col">Kind</th><th scope="col" class="n">Healthy</th><th scope="col" class="n">In progress</th><th scope="col" class="n">Warning</th><th scope="col" class="n">Error</th></tr></thead>
<tbody><% it.results.forEach((row) => { %><tr><th scope="row"><%= row.kind %></th><td class="n"><%= row.healthy %></td><td class="n"><%= row.info %></td><td class="n"><%= row.warning %></td><td class="n"><%= row.error %></td></tr>
<% }) %></tbody></table></div>
`,

  plan: `<% if (it.problems.length > 0) { %><div class="panel error"><h3><span class="sign error"><%= it.signs.error %></span> Not possible on these nodes</h3>
<ul><% it.problems.forEach((problem) => { %><li><%= problem %></li><% }) %></ul>
<% if (it.moreProblems > 0) { %><p class="soft">and <%= it.moreProblems %> more</p>
<% } %></div>
<% } %><% if (it.groups.length === 0) { %><p>No node has steps.</p>
<% } %><% it.groups.forEach((group) => { %><div class="panel <%= group.impact %>">
<h3><%= it.impacts[group.impact] %>: <%= group.title %></h3>
<% if (group.names) { %><p class="soft"><%= group.names %></p>
<% } %><% group.steps.forEach((step) => { %><span class="step"><b><%= step.sign %></b><%= step.text %></span>
<% }) %><% if (group.moreSteps > 0) { %><p class="soft">and <%= group.moreSteps %> more steps</p>
<% } %><% if (group.reasons.length > 0) { %><p>Because of:</p>
<ul><% group.reasons.forEach((reason) => { %><li><code><%= reason.field %></code> <%= reason.text %></li><% }) %></ul>
<% } %><% if (group.pods.length > 0) { %><p>Pods:</p>
<ul><% group.pods.forEach((line) => { %><li><%= line %></li><% }) %></ul>
<% if (group.morePods > 0) { %><p class="soft">and <%= group.morePods %> more lines, which <code>switchyard plan --node NAME</code> shows</p>
<% } %><% } %></div>
<% }) %><% if (it.more) { %><p>Further nodes that change, each with other steps: <%= it.more %>. <code>switchyard plan --node NAME</code> shows one.</p>
<% } %>`,

  verification: `<% it.networks.forEach((network) => { %><h3><%= network.title %></h3>
<div class="scroll" tabindex="0" role="region" aria-label="Checks of <%= network.title %>"><table><caption><%= network.table.title %></caption><thead><tr><% network.table.heads.forEach((head) => { %><th scope="col"><%= head %></th><% }) %></tr></thead><tbody><% network.table.rows.forEach((row) => { %><tr><% row.forEach((cell) => { %><td><%= cell %></td><% }) %></tr>
<% }) %></tbody></table></div>
<% network.failures.forEach((failure) => { %><div class="panel error"><h4><span class="sign error"><%= it.signs.error %></span> <%= failure.place %>: failed at <%= failure.layer %></h4>
<ul><% failure.lines.forEach((line) => { %><li><b><%= line.sign %></b> <%= line.layer %>: <%= line.text %><% if (line.next) { %> Next: <%= line.next %><% } %></li>
<% }) %></ul></div>
<% }) %><% }) %>`,

  tiles: `<% if (it.nodes.length === 0) { %><p>No nodes in the input.</p>
<% } else { %><ul class="keys" aria-label="States of nodes"><% it.counts.forEach((count) => { %><li class="<%= count.health %>"><span class="sign"><%= it.signs[count.health] %></span> <%= count.nodes %> <%= count.words %></li><% }) %></ul>
<ul class="tiles"><% it.nodes.forEach((node) => { %><li class="<%= node.health %>"><span class="sign"><%= it.signs[node.health] %></span> <% if (node.id) { %><a href="#<%= node.id %>"><%= node.name %></a><% } else { %><%= node.name %><% } %></li>
<% }) %></ul>
<% } %>`,

  cards: `<ul class="keys" aria-label="Drawing of VFs"><li><span class="key p"></span> in a pod</li><li><span class="key m"></span> perhaps in a pod: the device plugin reports only to the kubelet</li><li><span class="key f"></span> of a resource, in no known pod</li><li><span class="key n"></span> of no resource</li></ul>
<% if (it.omitted > 0) { %><p><%= it.omitted %> more nodes are not drawn, so that this file stays below 1 MB. One of them: <code>switchyard vfs --node NAME -o html</code></p>
<% } %><%~ it.html %>`,

  node: `<details<% if (it.isOpen) { %> open<% } %>><summary class="<%= it.node.health %>"><span class="sign"><%= it.sign %></span> <h3><%= it.node.name %></h3> <span class="soft"><%= it.node.words %></span></summary><div class="node" id="<%= it.id %>">
<% if (it.node.facts.length > 0) { %><dl class="facts"><% it.node.facts.forEach((fact) => { %><div><dt><%= fact.label %></dt><dd><%= fact.value %></dd></div><% }) %></dl>
<% } %><% if (it.node.pfs.length === 0) { %><p class="soft">No PFs are known.</p>
<% } %><div class="cards"><% it.node.pfs.forEach((pf) => { %><div class="card"><h4><%= pf.name %></h4><p class="soft"><%= pf.words %></p><p><%= pf.usage %></p>
<% if (pf.bars.length > 0) { %><div class="vfs" aria-hidden="true"><% pf.bars.forEach((bar) => { %><i class="<%= it.marks[bar.use] %>"<% if (bar.count > 1) { %> style="--n:<%= bar.count %>"<% } %>></i><% }) %></div>
<div class="scroll" tabindex="0" role="region" aria-label="VFs of <%= pf.name %> on <%= it.node.name %>"><table><thead><tr><th scope="col">VFs</th><% it.heads.forEach((head) => { %><th scope="col"><%= head %></th><% }) %></tr></thead><tbody><% pf.rows.forEach((row) => { %><tr><th scope="row"><%= row.vfs %></th><% row.cells.forEach((cell) => { %><td><%= cell %></td><% }) %></tr>
<% }) %></tbody></table></div><% } %></div>
<% }) %></div><% it.node.tables.forEach((table) => { %><div class="scroll" tabindex="0" role="region" aria-label="<%= table.title %> of <%= it.node.name %>"><table><caption><%= table.title %></caption><thead><tr><% table.heads.forEach((head) => { %><th scope="col"><%= head %></th><% }) %></tr></thead><tbody><% table.rows.forEach((row) => { %><tr><% row.forEach((cell) => { %><td><%= cell %></td><% }) %></tr>
<% }) %></tbody></table></div>
<% }) %></div></details>
`,
} as const;
