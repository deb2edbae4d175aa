// SPDX-License-Identifier: Apache-2.0
/**
 * putInForce gives a running plugin another configuration, and writeForStart gives one to a plugin that does not run yet.
 * Usage: `await putInForce(config, { configFile, endPlugin: () => endPlugin("sriovdp"), log });`
 */
import type { Logger } from "@switchyard/service";
import { isInForce, writeConfig, writeRecord } from "./config-file.ts";
import type { PluginConfig } from "./plugin-config.ts";

export interface InForceDeps {
  readonly configFile: string;
  /** Ends the plugin, which starts again, and returns the ids of its processes. */
  readonly endPlugin: () => Promise<readonly number[]>;
  readonly log: Logger;
}

/** Does nothing if the plugin has the configuration. */
export async function putInForce(config: PluginConfig, { configFile, endPlugin, log }: InForceDeps): Promise<void> {
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
