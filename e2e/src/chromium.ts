// SPDX-License-Identifier: Apache-2.0
/**
 * launchChromium starts the distribution's Chromium without a window.
 * Usage: `const browser = await launchChromium();`
 */
import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";

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
