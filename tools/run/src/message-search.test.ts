// SPDX-License-Identifier: Apache-2.0
/**
 * A reader who has seen a message finds the line that makes it with one search: the longest part of the message that stands
 * in the sources stands in one file. The messages are all that the recorded demo prints and the guides quote.
 */
import { describe, expect, it } from "@jest/globals";
import { demoMessages, guideMessages, readSources, search } from "./message-search.ts";

/** Messages of libraries, of Helm and of the kernel, which guides quote, too. */
const ofOtherPrograms = [
  "etcdutl ",
  "Failed to create umem",
  "Error connecting stream socket",
  "failed pre-install: resource",
  "EINVAL (virtio_net: ",
  "7 VFs requested; only",
  "group … is not viable",
  "failed to get bridge name",
  "Unable to change state to RTR",
];

const sources = readSources();

const messages = [...demoMessages(), ...guideMessages()].filter(
  ({ message }) => !ofOtherPrograms.some((start) => message.startsWith(start)),
);

/** One result for each part that was searched for: a message with other values is the same message. */
const results = [...new Map(messages.map((shown) => [search(shown.message, sources).part, shown])).values()].map(
  ({ page, message }) => ({ page, message, ...search(message, sources) }),
);

describe("the messages that the demo and the guides show", () => {
  it("are forty or more", () => {
    expect(results.length).toBeGreaterThanOrEqual(40);
    expect(new Set(results.map(({ page }) => page)).size).toBeGreaterThanOrEqual(8);
  });

  it("are found in one file by one search, nine of ten at least", () => {
    const missed = results.filter(({ files }) => files.length !== 1);
    const lines = missed.map(
      ({ page, message, part, files }) => `${page}: ${message}: "${part}" in ${files.length} files`,
    );
    expect({ missed: lines.slice(0, Math.max(0, missed.length - Math.floor(results.length / 10))) }).toEqual({
      missed: [],
    });
  });

  it("are found although they have one count only, such as one pod or one node", () => {
    for (const message of [
      "1 pod left: default/web-worker-2",
      "VF 3 of 0000:3b:00.0 has no representor",
      "1 pod is evicted: apps/web-0",
      "waiting for a free slot in the default pool: 1 of 1 draining (worker-1), 1 node ahead",
      "1 pod is not evicted and can lose VFs",
      "reconfigures 0000:3b:00.0 (8 -> 16 VFs) on worker-1: drains worker-1; 1 pod uses these VFs",
    ]) {
      expect([message, search(message, sources).files.length]).toEqual([message, 1]);
    }
  });
});

describe("search", () => {
  it("finds the longest part, and reports all files that have it", () => {
    const source = (path: string, text: string) => ({ path, text, words: new Set(text.split(" ")) });
    const texts = [source("a.ts", "`VF ${id} has no driver`"), source("b.ts", '"has no driver", "is gone"')];
    expect(search("VF 3 has no driver", texts)).toEqual({ part: "has no driver", files: ["a.ts", "b.ts"] });
    expect(search("pod x is gone", texts)).toEqual({ part: "is gone", files: ["b.ts"] });
    expect(search("nothing of that kind", texts)).toEqual({ part: "", files: [] });
  });
});
