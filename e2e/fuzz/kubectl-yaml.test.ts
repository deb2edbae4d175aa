// SPDX-License-Identifier: Apache-2.0
/**
 * What `switchyard` reads of YAML without a complaint, kubectl reads in the same way: for the inputs that fuzz runs have found, changes of
 * them, and scalars of every kind. kubectl's reader is sigs.k8s.io/yaml (e2e/fuzz/go). SEED repeats a run.
 */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { buildGoPrograms } from "@switchyard/go-programs";
import type { FuzzTarget } from "@switchyard/testing/fuzz";
import { findWorkspaceRoot } from "@switchyard/testing/workspace-root";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { corpusFolder, grownFolder, readInputs } from "./corpus.ts";
import { createMutator } from "./mutate.ts";
import { createRandom } from "./random.ts";

const seed = Number(process.env["SEED"] ?? `${Date.now() % 1_000_000}`);
const changes = 200 * Number(process.env["FUZZ_SECONDS"] ?? "120");
const root = findWorkspaceRoot();
process.chdir(root);
const load = createRequire(join(root, "e2e/fuzz/kubectl-yaml.test.ts"));
const { parseManifests } = load(join(root, "apps/cli/src/input/parse-manifests.ts")) as {
  readonly parseManifests: (
    text: string,
    file: string,
  ) => { readonly manifests: readonly { readonly object: unknown }[]; readonly problems: readonly string[] };
};
const { targets } = load(join(root, "apps/cli/src/input/manifests.fuzz.ts")) as {
  readonly targets: readonly FuzzTarget[];
};

const head = "apiVersion: v1\nkind: Node\n";
const scalars = [
  ...[
    "0o10",
    "-0x1f",
    "+.5",
    "._",
    "1__0",
    "0b1",
    ".1_0",
    "-.5e1",
    "1e",
    "0x",
    "08",
    "1_",
    "+",
    "=",
    "<<",
    "~",
    "null",
    "Y",
    "oFF",
  ],
  ...[
    "!!int 3",
    "!!float 1",
    "!!str a",
    "!!binary aGk=",
    "!!null a",
    "!!bool y",
    "!!set {a}",
    "!!int",
    "!a b",
    "&a b",
    "12:30",
    "2024-01-01",
  ],
  ...[
    "'a'",
    '"\\x41"',
    '"\\u0041"',
    "a b",
    "[a, 1]",
    "{a: 1}",
    "- a",
    "? a",
    "|\n a\n",
    ">\n a\n",
    "|2-\n  a",
    "NaN",
    "9007199254740993",
    "1e3",
  ],
];
const joints = ["", ":", " ", ": 1", "\n", " #", " ,", " - a", " |\n a", "_", ".", "e1", "-"];

/**
 * Texts that tell nothing have characters that only Go takes for the end of a line, or numbers that JavaScript rounds. Others have keys of
 * more than 1,024 characters, or brackets over several lines with a question mark or a quoted key. The items of lists are objects of their
 * own.
 */
const untold =
  /[\r\u0085\u2028\u2029\ufeff\t\ud800-\udfff]|\d{16}|.{1000}|[{,]\s*["'][^"'\n]*\n|[{[][^\]}]*\n[^\]}]*\?|List/;

/** A list or map within braces as a key without a value. The fast reader, which is for the output of kubectl, does not see it. */
const knownRefusal = "invalid map key";

let reader = "";

beforeAll(async () => {
  const bin = await buildGoPrograms({
    sources: join(root, "e2e/fuzz/go"),
    cacheName: "fuzz",
    title: "kubectl's reader of YAML",
  });
  reader = join(bin, "yaml-reader");
});

/** The only object of the text, if `switchyard` has no complaint. Other texts tell nothing: kubectl splits documents by itself. */
function objectIn(text: string): unknown {
  if (/^(?:---|\.\.\.)/m.test(text) || untold.test(text) || isJson(text)) return undefined;
  const { manifests, problems } = parseManifests(text, "f");
  const [manifest, second] = manifests;
  return problems.length > 0 || second !== undefined ? undefined : manifest?.object;
}

/** kubectl reads JSON with another reader. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function textsOf(): readonly string[] {
  const random = createRandom(seed);
  const inputs = ["manifests", "printed-yaml"].flatMap((name) => [
    ...readInputs(corpusFolder(name)),
    ...readInputs(grownFolder(name)),
  ]);
  const [target] = targets;
  inputs.push(...(target?.seeds ?? []).map((each) => Buffer.from(each)));
  const mutate = createMutator({ random, words: [...(target?.words ?? []), ...scalars], maxBytes: 2_000 });
  const changed = Array.from({ length: changes }, () =>
    mutate(random.pick(inputs), random.pick(inputs)).toString("utf8"),
  );
  const values = Array.from({ length: changes }, () => {
    const value = `${random.pick(scalars)}${random.pick(joints)}${random.pick(scalars)}`;
    return random.oneIn(2) ? `${head}x: ${value}\n` : `${head}x: {k: ${value}}\n`;
  });
  return [...inputs.map((input) => input.toString("utf8")), ...changed, ...values];
}

describe(`YAML with the seed ${seed}`, () => {
  it("is read by switchyard as by kubectl, or refused", () => {
    const read = textsOf().flatMap((text) => {
      const object = objectIn(text);
      return object === undefined ? [] : [{ text, object }];
    });
    expect(read.length).toBeGreaterThan(changes / 10);
    const { stdout } = spawnSync(reader, {
      input: read.map(({ text }) => `${JSON.stringify(text)}\n`).join(""),
      encoding: "utf8",
      maxBuffer: 1 << 30,
    });
    const answers = stdout.trimEnd().split("\n");
    expect(answers).toHaveLength(read.length);
    const differences = read.flatMap(({ text, object }, nth) => {
      const answer = answers[nth] ?? "";
      if (answer.includes(knownRefusal)) return [];
      if (answer.startsWith("null ")) return [`${JSON.stringify(text)}: kubectl refuses it: ${answer}`];
      const isSame = isDeepStrictEqual(JSON.parse(answer), JSON.parse(JSON.stringify(object)));
      return isSame ? [] : [`${JSON.stringify(text)}: kubectl reads ${answer}, switchyard ${JSON.stringify(object)}`];
    });
    process.stderr.write(`[fuzz] kubectl-yaml: ${read.length} texts that switchyard reads\n`);
    expect(differences.slice(0, 20)).toEqual([]);
  });
});
