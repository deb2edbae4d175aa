// SPDX-License-Identifier: Apache-2.0
/** What the command line refuses. The builds themselves are tested in e2e/images. */
import { describe, expect, it } from "@jest/globals";
import { main } from "./cli.ts";

describe("npm run images", () => {
  it.each([
    { does: "an app without an image", args: ["cli"], says: 'unknown app "cli"; known are operator, webhook' },
    {
      does: "an architecture",
      args: ["--arch", "amd64,s390x"],
      says: 'unknown architecture "s390x"; known are amd64, arm64',
    },
    { does: "a compression", args: ["--compression", "xz"], says: '--compression must be zstd or gzip, not "xz"' },
    { does: "a misspelt option", args: ["--archs", "amd64"], says: "Unknown option '--archs'" },
  ])("refuses $does with status 64 and the usage", async ({ args, says }) => {
    const { status, text } = await withStderr(() => main(args));
    expect(status).toBe(64);
    expect(text).toContain(`images: ${says}`);
    expect(text).toContain("npm run images -- [APP...]");
  });
});

async function withStderr<T>(act: () => Promise<T>): Promise<{ readonly status: T; readonly text: string }> {
  const { stderr } = process;
  const write = stderr.write.bind(stderr);
  let text = "";
  stderr.write = (chunk: string | Uint8Array) => {
    text += String(chunk);
    return true;
  };
  try {
    return { status: await act(), text };
  } finally {
    stderr.write = write;
  }
}
