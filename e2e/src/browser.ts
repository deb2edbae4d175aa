// SPDX-License-Identifier: Apache-2.0
/** launchChromium starts the distribution's Chromium without a window. */
import { existsSync } from "node:fs";
import { chromium, type Browser, type Page } from "playwright-core";

// Text, because the types of the browser are not those of Node.
const inBrowser = `(minimum) => {
  const parse = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const over = ([r, g, b, a = 1], under) => [r, g, b].map((value, i) => value * a + under[i] * (1 - a));
  const behind = (element) => {
    if (element === null) return [255, 255, 255];
    const own = parse(getComputedStyle(element).backgroundColor);
    return own[3] === 0 ? behind(element.parentElement) : over(own, own[3] === undefined ? own : behind(element.parentElement));
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const texts = document.querySelectorAll(".vp-doc :is(p, li, a, td, th, h2, code, pre span), .VPHero .tagline, .VPSidebar a, .VPNavBar a");
  return [...texts].filter((it) => it.offsetParent !== null && it.textContent.trim() !== "").flatMap((it) => {
    const background = behind(it);
    const color = over(parse(getComputedStyle(it).color), background);
    const [high, low] = [luminance(color), luminance(background)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    return ratio >= minimum ? [] : [it.tagName.toLowerCase() + " \\"" + it.textContent.trim().slice(0, 30) + "\\" " + ratio.toFixed(1)];
  });
}`;

const program = "/usr/bin/chromium";

/** Why no browser can start, for the name of a skipped test, or undefined. */
export function missingForBrowser(): string | undefined {
  if (existsSync(program)) return undefined;
  const reason = `${program} is missing; run "apt-get install chromium" as root on Debian`;
  console.error(`SKIPPED: ${reason}`);
  return reason;
}

/** Chromium's sandbox refuses to start as root. */
export async function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: program, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}

/**
 * Contrast of a page's texts with what is behind them, by the formula of WCAG 2.2.
 * Descriptions of texts in body, links, code and tables whose contrast is below `minimum`.
 */
export async function lowContrasts(page: Page, minimum: number): Promise<readonly string[]> {
  const found: unknown = await page.evaluate(`(${inBrowser})(${minimum})`);
  if (!Array.isArray(found)) throw new TypeError("the page returned no list");
  return found.map(String);
}
