// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { memoryFlags, mallocVariables, minSemiSpaceFlag } from "@switchyard/service/memory";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { compileCacheSettings } from "./build-context.ts";

describe("Containerfile", () => {
  it.each([
    { stage: "service", flags: [minSemiSpaceFlag] },
    { stage: "frugal-service", flags: memoryFlags },
    { stage: "dra-driver", flags: memoryFlags },
    { stage: "config-daemon", flags: memoryFlags },
  ])("starts $stage with the V8 flags for which it would start itself again", async ({ stage, flags }) => {
    const text = await readFile(join(__dirname, "../Containerfile"), "utf8");
    const [, after = ""] = text.split(`FROM common AS ${stage}\n`);
    const entryPoint: unknown = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(after)?.[1] ?? "null");
    expect(entryPoint).toEqual(["/usr/bin/node", ...flags, "/app/main.js"]);
  });

  it("has the config daemon use its compile cache and return freed memory", async () => {
    const text = await readFile(join(__dirname, "../Containerfile"), "utf8");
    const [common = "", ownText = ""] = ["common", "config-daemon"].map(
      (stage) => text.split(` AS ${stage}\n`)[1]?.split("\nFROM ")[0],
    );
    const set = [...`${common}\n${ownText}`.matchAll(/^ENV (.*)$/gm)].flatMap(([, settings = ""]) =>
      settings.split(" "),
    );
    const malloc = Object.entries(mallocVariables).map((setting) => setting.join("="));
    expect(set.toSorted()).toEqual([...compileCacheSettings("/app"), ...malloc].toSorted());
  });
});
