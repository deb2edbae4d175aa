// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { KeyPair } from "@switchyard/certificates";
import { eventually } from "@switchyard/testing";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { followKeyPair, KeyPairError, readKeyPair } from "./key-pair.ts";
import { makePair } from "../testing/review-client.ts";

let directory: string;
let files: { readonly certFile: string; readonly keyFile: string };

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "switchyard-webhook-"));
  files = { certFile: join(directory, "tls.crt"), keyFile: join(directory, "tls.key") };
});

afterEach(() => rm(directory, { recursive: true }));

describe("readKeyPair", () => {
  it("rejects with a code for each reason", async () => {
    const code = async (): Promise<string> => {
      const thrown: unknown = await readKeyPair(files).catch((error: unknown) => error);
      return thrown instanceof KeyPairError ? thrown.code : "none";
    };
    expect(await code()).toBe("unreadable");
    await writeFile(files.certFile, "no PEM");
    await writeFile(files.keyFile, (await makePair()).key);
    expect(await code()).toBe("malformed");
    await writeFile(files.certFile, (await makePair()).cert);
    expect(await code()).toBe("mismatched");
  });
});

describe("followKeyPair", () => {
  it("uses a new pair once both files match, and reports each problem once", async () => {
    const [first, second] = [await makePair(), await makePair()];
    const taken: KeyPair[] = [];
    const problems: string[] = [];
    await using pair = followKeyPair({
      files,
      intervalMs: 5,
      onChange: (one) => taken.push(one),
      report: ({ code }) => problems.push(code),
    });
    await eventually("nothing to read", () => problems.includes("unreadable"));
    await writeFile(files.certFile, first.cert);
    await writeFile(files.keyFile, first.key);
    expect((await pair.first).cert).toBe(first.cert);

    await writeFile(files.certFile, second.cert);
    await eventually("half a pair", () => problems.includes("mismatched"));
    expect(taken).toHaveLength(1);
    await writeFile(files.keyFile, second.key);
    await eventually("the second pair", () => taken.length === 2);
    expect(taken.map(({ cert }) => cert)).toEqual([first.cert, second.cert]);
    expect(problems.filter((code) => code === "mismatched")).toHaveLength(1);
  });
});
