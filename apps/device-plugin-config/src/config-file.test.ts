// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@switchyard/service/testing";
import { activateConfig, isInForce, readOfferedVfs, writeConfig, writeRecord } from "./config-file.ts";
import type { PluginConfig } from "./plugin-config.ts";

let directory: string;
let file: string;
const config = { text: "{}", record: "1" };

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "switchyard-config-"));
  file = join(directory, "pcidp/config.json");
});
afterEach(() => rm(directory, { recursive: true }));

describe("the configuration file of the plugin", () => {
  it("is in force after the record was written", async () => {
    expect(await isInForce(file, config)).toBe(false);
    await writeConfig(file, config.text);
    expect(await readFile(file, "utf8")).toBe(config.text);
    expect(await isInForce(file, config)).toBe(false); // as after a kill in between
    await writeRecord(file, config.record);
    expect(await isInForce(file, config)).toBe(true);
  });

  it("is not in force if the text or the record differs", async () => {
    await writeConfig(file, config.text);
    await writeRecord(file, config.record);
    expect(await isInForce(file, { ...config, record: "2" })).toBe(false);
    expect(await isInForce(file, { ...config, text: "{ }" })).toBe(false);
  });

  describe.each([
    { how: "is empty", text: "" },
    { how: "is truncated", text: '{"resourceList":[{"resourceName":"fa' },
    { how: "has zeros, as after a power loss", text: "\0".repeat(64) },
    { how: "is of a later release", text: '{"version":9,"resourceList":{"fast":{"selectors":[]}}}' },
    { how: "is of another program", text: "# managed by ansible\n" },
    { how: "is a directory", text: undefined },
  ])("that $how", ({ text }) => {
    it.each(["config.json", "config.json.in-force", "config.json.new", "config.json.in-force.new"])(
      "is written again, and the plugin is restarted once: %s",
      async (name) => {
        const restarts: string[] = [];
        const deps = {
          configFile: file,
          log: silentLogger,
          endPlugin: () => Promise.resolve([restarts.push("plugin")]),
        };
        const given = { text: '{"resourceList":[]}', record: "1" } as PluginConfig;
        await activateConfig(given, deps);
        const path = join(directory, "pcidp", name);
        await rm(path, { force: true });
        if (text === undefined) await mkdir(join(path, "x"), { recursive: true });
        else await writeFile(path, text);
        expect([...(await readOfferedVfs(file)).keys()]).toEqual([]);
        restarts.length = 0;
        for (let pass = 0; pass < 2; pass++) await activateConfig(given, deps);
        expect([await isInForce(file, given), restarts.length]).toEqual([true, name.endsWith(".new") ? 0 : 1]);
      },
    );
  });

  it("is written without leaving other files", async () => {
    await writeConfig(file, config.text);
    await writeRecord(file, config.record);
    expect(await readdir(join(directory, "pcidp"))).toEqual(["config.json", "config.json.in-force"]);
  });
});
