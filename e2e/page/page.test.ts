// SPDX-License-Identifier: Apache-2.0
/**
 * The HTML pages of plan, doctor and vfs in a real browser: three widths, light and dark, paper, accessibility, keyboard, links,
 * hostile texts, no network.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { findWorkspaceRoot, fleetObjects, runProgram } from "@switchyard/testing";
import { source } from "axe-core";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { launchChromium, missingForBrowser } from "../src/browser.ts";

const verbs = ["doctor", "plan", "vfs"] as const;
type Verb = (typeof verbs)[number];
const widths = [360, 1280, 2560];
const schemes = ["light", "dark"] as const;
const views = verbs.flatMap((verb) => widths.flatMap((width) => schemes.map((scheme) => ({ verb, width, scheme }))));
const hostile = `<script>document.title = "changed"</script>"><img src=x onerror=alert(1)> \u202Eesrever\u001b[31m`;
const missing = missingForBrowser();

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

function afxdpState(name: string): object {
  const metadata = { name, namespace: "sriov-network-operator" };
  const subfunction = { sfNumber: 4, name: hostile, driver: "mlx5_core.sf", poolName: "fast", state: "active" };
  const device = {
    pciAddress: "0000:5e:00.0",
    name: "ens2f0",
    driver: "mlx5_core",
    owned: true,
    xdp: { native: true },
  };
  return {
    apiVersion: "afxdpnetwork.hns.dev/v1alpha1",
    kind: "AfxdpNetworkNodeState",
    metadata,
    status: {
      interfaces: [{ ...device, subfunctions: [subfunction] }],
      pools: [{ name: "fast", announced: 1, allocatable: 0, error: hostile }],
    },
  };
}

/** The longest code of a finding, in a heading. */
function invalidNetwork(): object {
  const reason = "NetworkAttachmentDefinitionInvalid";
  const conditions = [
    { type: "Degraded", status: "True", reason, message: hostile, lastTransitionTime: "2026-01-05T10:00:00Z" },
  ];
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetwork",
    metadata: { name: "net", namespace: "sriov-network-operator" },
    spec: { resourceName: "fast" },
    status: { conditions },
  };
}

(missing === undefined ? describe : describe.skip)(`the HTML pages${missing ? ` (${missing})` : ""}`, () => {
  const stack = new AsyncDisposableStack();
  let directory: string;
  let browser: Browser;
  let axe: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "switchyard-page-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    const items = [
      fleetObjects({ nodes: 40, vfsPerPf: 6, text: hostile }),
      afxdpState("worker-0001"),
      invalidNetwork(),
    ];
    await writePages("small", { apiVersion: "v1", kind: "List", items });
    browser = await launchChromium();
    stack.defer(() => browser.close());
    axe = source;
  }, 300_000);
  afterAll(() => stack.disposeAsync(), 60_000);

  const fileOf = (size: string, verb: Verb): string => join(directory, `${size}-${verb}.html`);

  async function writePages(size: string, objects: object): Promise<void> {
    const input = join(directory, `${size}.json`);
    await writeFile(input, JSON.stringify(objects));
    for (const verb of verbs) await writeFile(fileOf(size, verb), await page(verb, input));
  }

  /** Opens a page and lists what goes wrong in it: errors, and requests other than for the file. */
  async function open(verb: Verb, options: BrowserContextOptions) {
    const context = await browser.newContext(options);
    const opened = await context.newPage();
    const problems: string[] = [];
    const url = `file://${fileOf("small", verb)}`;
    opened.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    opened.on("pageerror", (error) => problems.push(error.message));
    opened.on("dialog", (dialog) => problems.push(`dialog: ${dialog.message()}`));
    opened.on("request", (request) => request.url() !== url && problems.push(request.url()));
    await opened.goto(url, { timeout: 120_000 });
    return { page: opened, problems, [Symbol.asyncDispose]: () => context.close() };
  }

  it.each(views)(
    "of $verb is accessible and complete at $width pixels in $scheme mode",
    async ({ verb, width, scheme }) => {
      // axe is a script, which the page's own policy refuses.
      await using opened = await open(verb, {
        viewport: { width, height: 900 },
        colorScheme: scheme,
        bypassCSP: true,
      });
      await opened.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
      const tooWide: unknown = await opened.page.evaluate("document.documentElement.scrollWidth - innerWidth");
      await opened.page.addScriptTag({ content: axe });
      const { violations } = await opened.page.evaluate<{ violations: readonly Violation[] }>("axe.run()");
      const found = violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" ")}`,
      );
      expect({ tooWide, found, problems: opened.problems }).toEqual({ tooWide: 0, found: [], problems: [] });
    },
    300_000,
  );

  it.each(["doctor", "plan"] as const)("of %s shows AF_XDP devices and pools", async (verb) => {
    await using opened = await open(verb, { viewport: { width: 1280, height: 900 } });
    const tables = await opened.page.locator("table:has(caption:text('AF_XDP'))").allTextContents();
    expect(tables.map((text) => text.slice(0, 14))).toEqual(["AF_XDP devices", "AF_XDP poolsPo"]);
  });

  it.each(verbs)(
    "of %s shows texts of users as texts",
    async (verb) => {
      await using opened = await open(verb, { viewport: { width: 1280, height: 900 } });
      const { page: shown } = opened;
      expect(await shown.title()).toMatch(/^Switchyard: /);
      expect(await shown.locator("img, script, iframe").count()).toBe(0);
      const text = String(await shown.evaluate("document.body.textContent"));
      expect(text).toContain("<script>");
      expect(text).not.toMatch(/[\u202e\u001b]/);
      expect(opened.problems).toEqual([]);
    },
    120_000,
  );

  it.each(verbs)(
    "of %s has links that lead to something visible, also into folded nodes",
    async (verb) => {
      await using opened = await open(verb, { viewport: { width: 1280, height: 900 } });
      const targets = await opened.page.evaluate<readonly string[]>(
        "[...document.querySelectorAll('a')].map((link) => link.getAttribute('href'))",
      );
      expect(targets.length).toBeGreaterThan(10);
      for (const target of new Set(targets)) {
        await opened.page.goto(`file://${fileOf("small", verb)}${target}`);
        expect({ target, isVisible: await opened.page.locator(target).isVisible() }).toEqual({
          target,
          isVisible: true,
        });
      }
    },
    300_000,
  );

  it("of doctor can be used with the keyboard: skip link, sections, findings, and unfolding a node", async () => {
    await using opened = await open("doctor", { viewport: { width: 1280, height: 900 } });
    const focused = async () => String(await opened.page.evaluate("document.activeElement.textContent")).trim();
    const reached: string[] = [];
    for (let presses = 0; presses < 120; presses += 1) {
      await opened.page.keyboard.press("Tab");
      reached.push(await focused());
      if ((await opened.page.evaluate("document.activeElement.parentElement.open === false")) === true) break;
    }
    expect(reached.slice(0, 2)).toEqual(["Skip to the content", "Findings"]);
    expect(reached).toContain("SriovNetworkNodeState/sriov-network-operator/worker-0004");
    await opened.page.keyboard.press("Enter");
    expect(await opened.page.evaluate("document.activeElement.parentElement.open")).toBe(true);
  }, 120_000);

  it("of doctor is printed with everything unfolded", async () => {
    await using opened = await open("doctor", { viewport: { width: 1280, height: 900 } });
    await opened.page.emulateMedia({ media: "print" });
    const last = opened.page.locator(".node").last();
    expect(await last.isVisible()).toBe(true);
    const pdf = await opened.page.pdf({ format: "A4", printBackground: false });
    expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
  }, 120_000);

  it("are below 1 MB for 1,000 nodes with 128 VFs each, with a tile for each node, those with errors first", async () => {
    await writePages("large", fleetObjects({ nodes: 1_000, vfsPerPf: 64 }));
    for (const verb of verbs) {
      const html = await readFile(fileOf("large", verb), "utf8");
      expect({ verb, isSmall: (await stat(fileOf("large", verb))).size < 1_000_000 }).toEqual({ verb, isSmall: true });
      expect(html).toMatch(/[0-9]+ more nodes are not drawn/);
      for (const name of ["worker-0001", "worker-1000"]) expect(html).toContain(name);
    }
    const doctor = await readFile(fileOf("large", "doctor"), "utf8");
    expect(doctor).toContain("worker-0001</li>");
    expect(doctor.indexOf(">worker-0004<")).toBeLessThan(doctor.indexOf("worker-0001</li>"));
  }, 300_000);
});

async function page(verb: Verb, input: string): Promise<string> {
  const main = join(findWorkspaceRoot(), "apps/cli/src/main.ts");
  const args = ["--disable-warning=ExperimentalWarning", main, verb, "-f", input, "-o", "html"];
  const { stdout, stderr } = await runProgram(process.execPath, args);
  if (!stdout.endsWith("</html>\n")) throw new Error(`switchyard ${verb} wrote no page: ${stderr}`);
  return stdout;
}
