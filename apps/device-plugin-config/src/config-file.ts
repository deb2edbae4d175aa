// SPDX-License-Identifier: Apache-2.0
/**
 * Reads and writes the configuration file of the plugin, and beside it the record of the configuration that the plugin was
 * started with.
 */
import { parseLimitedJson } from "@switchyard/api";
import { isErrno, makeDirectory, type Logger } from "@switchyard/service";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { PluginConfig } from "./plugin-config.ts";

interface InForceDeps {
  readonly configFile: string;
  /** Ends the plugin, which starts again, and returns the ids of its processes. */
  readonly endPlugin: () => Promise<readonly number[]>;
  readonly log: Logger;
}

/** Reports whether the plugin runs, or will start, with this configuration. */
export async function isInForce(file: string, { text, record }: PluginConfig): Promise<boolean> {
  return (await read(file)) === text && (await read(recordOf(file))) === record;
}

/** Returns the VFs in the file by the name of their resource; none if there is no file, or if somebody else wrote it. */
export async function readOfferedVfs(file: string): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const content = parse((await read(file)) ?? "{}");
  const list =
    isObject(content) && Array.isArray(content["resourceList"]) ? (content["resourceList"] as unknown[]) : [];
  return new Map(
    list.flatMap((resource): readonly [string, ReadonlySet<string>][] => {
      if (!isObject(resource) || !isObject(resource["selectors"])) return [];
      const name = resource["resourceName"];
      const addresses: unknown = resource["selectors"]["pciAddresses"];
      return typeof name === "string" && Array.isArray(addresses)
        ? [[name, new Set(addresses.filter((address) => typeof address === "string"))]]
        : [];
    }),
  );
}

/** Replaces the file atomically, because the plugin can start at any moment. */
export async function writeConfig(file: string, text: string): Promise<void> {
  await replace(file, text);
}

/** Must be called after the plugin was restarted. If the process is killed before, its next start restarts the plugin again. */
export async function writeRecord(file: string, record: string): Promise<void> {
  await replace(recordOf(file), record);
}

/** Returns the record; undefined without one. */
export function readRecord(file: string): Promise<string | undefined> {
  return read(recordOf(file));
}

function recordOf(file: string): string {
  return `${file}.in-force`;
}

/** A file that cannot be read counts as absent: it is written again. */
async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT", "EISDIR", "EACCES", "EPERM", "EIO")) return undefined;
    throw error;
  }
}

async function replace(file: string, text: string): Promise<void> {
  await makeDirectory(dirname(file));
  const draft = `${file}.new`;
  await rm(draft, { recursive: true, force: true }); // of a process that was killed, or of somebody else
  await writeFile(draft, text);
  try {
    await rename(draft, file);
  } catch (error) {
    if (!isErrno(error, "EISDIR", "ENOTEMPTY", "EEXIST")) throw error;
    await rm(file, { recursive: true });
    await rename(draft, file);
  }
}

function parse(text: string): unknown {
  try {
    return parseLimitedJson(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/**
 * activateConfig gives a running plugin another configuration, and writeForStart gives one to a plugin that does not run yet.
 * Does nothing if the plugin has the configuration.
 */
export async function activateConfig(config: PluginConfig, { configFile, endPlugin, log }: InForceDeps): Promise<void> {
  if (await isInForce(configFile, config)) return;
  await writeConfig(configFile, config.text);
  const pids = await endPlugin();
  await writeRecord(configFile, config.record);
  log.info({ file: configFile, pids }, "configuration written; device plugin restarts");
}

export async function writeForStart(
  config: PluginConfig,
  { configFile, log }: Omit<InForceDeps, "endPlugin">,
): Promise<void> {
  await writeConfig(configFile, config.text);
  await writeRecord(configFile, config.record);
  log.info({ file: configFile }, "configuration written");
}
