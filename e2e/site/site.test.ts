// SPDX-License-Identifier: Apache-2.0
/** The documentation site in a real browser: every page at the width of a phone, search, keyboard, contrast, versions. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { buildSite } from "@switchyard/docs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launchChromium, lowContrasts, missingForBrowser } from "../src/browser.ts";
import { serveFiles, type FileServer } from "./serve-files.ts";

const missing = missingForBrowser();
const phone = { width: 360, height: 740 };
const desktop = { width: 1440, height: 900 };
const base = "/switchyard/v0.1/";

(missing === undefined ? describe : describe.skip)(`the documentation site${missing ? ` (${missing})` : ""}`, () => {
  const stack = new AsyncDisposableStack();
  let directory: string;
  let server: FileServer;
  let browser: Browser;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "switchyard-site-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    await buildSite({ outDir: join(directory, "v0.1"), base, isPublished: true });
    await mkdir(join(directory, "v0.2"));
    await writeFile(join(directory, "v0.2/index.html"), "<!doctype html><title>v0.2</title>");
    await writeFile(join(directory, "versions.json"), '["v0.2","v0.1"]');
    server = stack.use(await serveFiles(directory, "/switchyard/"));
    browser = await launchChromium();
    stack.defer(() => browser.close());
  }, 600_000);
  afterAll(() => stack.disposeAsync(), 60_000);

  /** Opens a page of the site and lists what goes wrong in it: errors, and requests to other servers. */
  async function open(path: string, options: BrowserContextOptions) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const problems: string[] = [];
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("request", (request) => {
      if (!request.url().startsWith(server.origin) && !request.url().startsWith("data:")) problems.push(request.url());
    });
    await page.goto(`${server.origin}${base}${path}`, { waitUntil: "networkidle", timeout: 120_000 });
    return { page, problems, [Symbol.asyncDispose]: () => context.close() };
  }

  it("shows every page at 360 pixels without errors, foreign requests and horizontal scrolling", async () => {
    const files = await readdir(join(directory, "v0.1"), { recursive: true });
    const pages = files.filter((file) => file.endsWith(".html") && file !== "404.html");
    expect(pages.length).toBeGreaterThan(40);
    const problems: string[] = [];
    for (const path of pages) {
      await using opened = await open(path, { viewport: phone });
      const tooWide: unknown = await opened.page.evaluate("document.documentElement.scrollWidth - innerWidth");
      problems.push(...opened.problems.map((problem) => `${path}: ${problem}`));
      problems.push(...(await cutTables(opened.page)).map((cut) => `${path}: ${cut}`));
      if (tooWide !== 0) problems.push(`${path}: scrolls horizontally by ${String(tooWide)} pixels`);
    }
    expect(problems).toEqual([]);
  }, 900_000);

  it.each([1280, 1440, 2560])(
    "shows all columns of all tables at %d pixels",
    async (width) => {
      const problems: string[] = [];
      for (const path of [
        "reference/chart-values",
        "reference/flags",
        "reference/metrics",
        "reference/conditions",
        "differences",
      ]) {
        await using opened = await open(`${path}.html`, { viewport: { width, height: 900 } });
        problems.push(...(await cutTables(opened.page)).map((cut) => `${path}: ${cut}`));
      }
      expect(problems).toEqual([]);
    },
    300_000,
  );

  it.each([1280, 1440, 2560])(
    "cuts neither headings in the list of a page nor output of 80 columns at %d pixels",
    async (width) => {
      await using faq = await open("faq.html", { viewport: { width, height: 900 } });
      expect(await faq.page.evaluate(cutTexts(".VPDocAsideOutline .outline-link"))).toEqual([]);
      await using cli = await open("cli.html", { viewport: { width, height: 900 } });
      const cut = await cli.page.evaluate<readonly string[]>(cutTexts(".language-text pre"));
      expect(cut.filter((text) => text.startsWith("Usage: "))).toEqual([]);
    },
    300_000,
  );

  it("has an address for each value of the chart", async () => {
    await using opened = await open("reference/chart-values.html#operator-resourceprefix", { viewport: desktop });
    const row = opened.page.locator("tr:target");
    expect(await row.textContent()).toContain("operator.resourcePrefix");
    expect(opened.problems).toEqual([]);
  }, 300_000);

  it.each(["light", "dark"] as const)(
    "has readable contrasts in %s mode",
    async (colorScheme) => {
      for (const path of [
        "index.html",
        "guide/operate.html",
        "guide/install.html",
        "api/sriovnetworknodepolicy.html",
      ]) {
        await using opened = await open(path, { viewport: desktop, colorScheme });
        expect({ path, low: await lowContrasts(opened.page, 4.5) }).toEqual({ path, low: [] });
      }
    },
    300_000,
  );

  it("finds a word by the keyboard, and opens the page", async () => {
    await using opened = await open("index.html", { viewport: desktop });
    const { page } = opened;
    await page.keyboard.press("Control+k");
    await page.locator("#localsearch-input").fill("maxUnavailable");
    await page.locator(".results a").first().waitFor({ timeout: 120_000 });
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => !url.pathname.endsWith("/index.html"), { timeout: 120_000 });
    await page.locator(".vp-doc", { hasText: "maxUnavailable" }).waitFor({ timeout: 120_000 });
    expect(opened.problems).toEqual([]);
  }, 300_000);

  it("shows the product on the home page: the report and three commands, and no second hero", async () => {
    await using opened = await open("index.html", { viewport: desktop });
    const { page } = opened;
    await page.locator(".vp-doc img[src*='report']").waitFor();
    const commands = await page.locator(".vp-doc pre").first().innerText();
    expect(commands.trim().split("\n")).toHaveLength(3);
    expect(await page.locator(".vp-doc h1").count()).toBe(0);
    expect(opened.problems).toEqual([]);
  }, 300_000);

  it("lets the keyboard reach navigation, and the first step from the home page", async () => {
    await using opened = await open("index.html", { viewport: desktop });
    const { page } = opened;
    const reached: string[] = [];
    for (let presses = 0; presses < 20; presses += 1) {
      await page.keyboard.press("Tab");
      reached.push(await focusedText(page));
    }
    expect(reached).toEqual(
      expect.arrayContaining(["Skip to content", "Install", "Reference", "Upgrade from the Go operator"]),
    );
    await page.locator(".VPHero a", { hasText: "Install" }).click();
    await page.locator("h1", { hasText: "Install" }).waitFor({ timeout: 120_000 });
    expect(opened.problems).toEqual([]);
  }, 300_000);

  it("offers other versions", async () => {
    await using opened = await open("guide/operate.html", { viewport: desktop });
    const menu = opened.page.getByLabel("Version").first();
    expect(await menu.inputValue()).toBe("v0.1");
    await menu.selectOption("v0.2");
    await opened.page.waitForURL(`${server.origin}/switchyard/v0.2/`, { timeout: 120_000, waitUntil: "commit" });
  }, 300_000);
});

/** Tables that are wider than their frame, or whose last column is not within the page. */
/** An expression for the browser: the beginnings of the texts that are wider than their elements. */
function cutTexts(selector: string): string {
  return `[...document.querySelectorAll(${JSON.stringify(selector)})]
    .filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.textContent.trim().slice(0, 40))`;
}

async function cutTables(page: Page): Promise<readonly string[]> {
  const found: unknown = await page.evaluate(`[...document.querySelectorAll(".vp-doc table")].flatMap((table, at) => {
    const last = table.querySelector("tbody tr td:last-child")?.getBoundingClientRect();
    const isCut = table.scrollWidth > table.clientWidth + 1 || (last?.right ?? 0) > innerWidth + 1;
    return isCut ? ["table " + (at + 1) + " is cut: " + table.scrollWidth + " of " + table.clientWidth + " pixels"] : [];
  })`);
  return (found as readonly unknown[]).map(String);
}

async function focusedText(page: Page): Promise<string> {
  return String(await page.evaluate("document.activeElement?.textContent ?? ''")).trim();
}
