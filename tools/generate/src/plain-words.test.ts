// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { join } from "node:path";
import { findUnplainWords } from "./plain-words.ts";
import { collectTexts, textsOfSource } from "./texts.ts";

const root = join(import.meta.dirname, "../../..");

describe("findUnplainWords", () => {
  it.each([
    { text: "the plugin starts anew", found: ["anew"] },
    { text: "the plugin restarts", found: [] },
    { text: "${whoever.anew} is the node's name", found: [] },
    { text: "edits by hand are reverted", found: [] },
  ])("finds $found in: $text", ({ text, found }) => {
    const texts = [{ file: "a.ts", line: 1, kind: "log", text }] as const;
    expect(findUnplainWords(texts).map((it) => it.found)).toEqual(found);
  });

  it("finds none of these words in the texts that users read", () => {
    const offenders = findUnplainWords(collectTexts(root));
    const lines = offenders.map(
      ({ file, line, found, advice, text }) => `${file}:${line}: "${found}": ${advice}: ${text}`,
    );
    expect(lines).toEqual([]);
  });
});

describe("textsOfSource", () => {
  it("finds the texts with their lines and kinds", () => {
    const source = [
      'import { x } from "not a text";',
      'log.warn("watch failed; retrying");',
      'new Gauge({ name: "switchyard_x", help: "Nodes that failed." });',
      "throw new KubeError(`request to ${server.host} failed`);",
      'const flags = { a: flag(text("FILE"), { help: "Certificate in PEM format, " + "read again on change." }) };',
      'const key = "no-prose";',
    ].join("\n");
    expect(textsOfSource("apps/x/src/y.ts", source)).toEqual([
      { file: "apps/x/src/y.ts", line: 2, kind: "log", text: "watch failed; retrying" },
      { file: "apps/x/src/y.ts", line: 3, kind: "metric", text: "Nodes that failed." },
      { file: "apps/x/src/y.ts", line: 4, kind: "error", text: "request to ${server.host} failed" },
      { file: "apps/x/src/y.ts", line: 5, kind: "help", text: "Certificate in PEM format, read again on change." },
    ]);
  });

  it("takes the JSDoc of the API for descriptions", () => {
    const source = "/** Nodes. */\nexport interface N {\n  /** Number of VFs to create. */\n  numVfs: number;\n}\n";
    expect(textsOfSource("libs/api/src/n.ts", source).map(({ kind, line }) => [kind, line])).toEqual([["crd", 3]]);
  });
});

describe("collectTexts", () => {
  it("finds texts of every kind", () => {
    const kinds = new Set(collectTexts(root).map(({ kind }) => kind));
    const expected = ["admission", "alert", "condition", "crd", "error", "event", "help", "log", "metric"];
    expect(expected.filter((kind) => !kinds.has(kind as "log"))).toEqual([]);
  });
});
