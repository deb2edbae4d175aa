// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { mkdtempDisposable, mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { checkSite } from "./check-site.ts";

async function problemsOf(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  await using directory = await mkdtempDisposable(join(tmpdir(), "switchyard-docs-"));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory.path, name)), { recursive: true });
    await writeFile(join(directory.path, name), content);
  }
  return await checkSite(directory.path, "/base/");
}

describe("checkSite", () => {
  it("accepts links to pages, anchors, assets and https addresses", async () => {
    const problems = await problemsOf({
      "index.html":
        '<a href="/base/guide/a.html#one">a</a> <img src="/base/x.svg"> <a href="https://kubernetes.io/docs/#x">k</a>',
      "guide/a.html": '<h2 id="one">One</h2> <a href="./">up</a> <a href="#one">here</a><script>"<a href=no>"</script>',
      "guide/index.html": '<a href="../">home</a> <a href="mailto:security@example.com">mail</a>',
      "x.svg": "<svg/>",
    });
    expect(problems).toEqual([]);
  });

  it.each([
    { tag: '<a href="/base/b.html">', problem: "link to /base/b.html, but the site has no b.html" },
    { tag: '<a href="#two">', problem: 'link to #two, but index.html has no element "two"' },
    { tag: '<a href="/other/">', problem: "link to /other/, which is outside of the site (/base/)" },
    { tag: '<a href="http://kubernetes.io/">', problem: "link to http://kubernetes.io/, which is not https" },
    { tag: '<a href="https://kubernetes/">', problem: "link to https://kubernetes/, whose host has no domain" },
    { tag: '<a href="https://a b/">', problem: "link to https://a b/, which is not a valid address" },
    {
      tag: '<link rel="stylesheet" href="//cdn.example/a.css">',
      problem: "<link> loads //cdn.example/a.css from another server",
    },
    {
      tag: '<script src="https://cdn.example/a.js"></script>',
      problem: "<script> loads https://cdn.example/a.js from another server",
    },
  ])("reports $tag", async ({ tag, problem }) => {
    expect(await problemsOf({ "index.html": tag })).toEqual([`index.html: ${problem}`]);
  });

  it("reports style sheets that load from other servers", async () => {
    const css = '@import "https://fonts.example/a.css"; b { background: url(data:x) } i { background: url(a.png) }';
    expect(await problemsOf({ "a.css": css })).toEqual(["a.css: loads https://fonts.example/a.css"]);
  });
});
