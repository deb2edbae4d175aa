// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isInForce, writeConfig, writeRecord } from "./config-file.ts";

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

  it("is written without leaving other files", async () => {
    await writeConfig(file, config.text);
    await writeRecord(file, config.record);
    expect(await readdir(join(directory, "pcidp"))).toEqual(["config.json", "config.json.in-force"]);
  });
});
