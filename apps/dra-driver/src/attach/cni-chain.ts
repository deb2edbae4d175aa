// SPDX-License-Identifier: Apache-2.0
/**
 * parseCniChain reads the CNI configuration of a NetworkAttachmentDefinition: one plugin, or a list of plugins (CNI 1.1.0, section 1). Users
 * write it, so what becomes a program or a variable of the environment is checked. pluginInput is the configuration for one plugin.
 * Usage: `const chain = parseCniChain(spec.config, "fast"); if (chain.ok) pluginInput(chain.value, 0, { pciAddress });`
 */
import { err, ok, parseLimitedJson, type Result } from "@switchyard/api";
import { isRecord } from "@switchyard/kube";

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

export interface CniChain {
  readonly name: string;
  readonly cniVersion: string;
  /** At least one, in the order in which they add the interface. */
  readonly plugins: readonly CniPlugin[];
}

export interface CniPlugin {
  /** Name of the program, which is no path. */
  readonly type: string;
  readonly conf: JsonObject;
}

export interface PluginInput {
  readonly pciAddress: string;
  /** Result of the plugin before; for DEL, that of the whole chain. */
  readonly previous?: JsonObject | undefined;
}

const maxPlugins = 16;
/** The name of a network in CNI 1.1.0; also that of a program, without a slash. */
const nameRule = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
/** Of a configuration that does not name its version, as Multus takes it. */
const defaultVersion = "0.3.1";

/** `name` is that of the NetworkAttachmentDefinition. The error is the end of a sentence that begins with the field. */
export function parseCniChain(text: string, name: string): Result<CniChain, string> {
  const whole = parseObject(text);
  if (whole === undefined) return err("is not a JSON object");
  const { plugins = [whole], cniVersion = defaultVersion, name: ownName = name } = whole;
  if (typeof ownName !== "string" || !nameRule.test(ownName))
    return err("has a name that is not the name of a network");
  if (typeof cniVersion !== "string" || !/^\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(cniVersion)) {
    return err("has a cniVersion that is not a version");
  }
  if (!Array.isArray(plugins) || plugins.length === 0) return err("has no plugins");
  if (plugins.length > maxPlugins) return err(`has more than ${maxPlugins} plugins`);
  const parsed: CniPlugin[] = [];
  for (const [index, plugin] of plugins.entries()) {
    if (!isRecord(plugin)) return err(`has a plugin ${index} that is not an object`);
    const { type } = plugin;
    if (typeof type !== "string" || !nameRule.test(type)) {
      return err(`has a plugin ${index} whose type is not the name of a program`);
    }
    parsed.push({ type, conf: plugin });
  }
  return ok({ name: ownName, cniVersion, plugins: parsed });
}

/**
 * Returns the configuration for a plugin of the chain. The first one gets the PCI address of the VF in the fields in which Multus passes it:
 * `deviceID` for the sriov plugins, `pciBusID` for host-device.
 */
export function pluginInput(
  { name, cniVersion, plugins }: CniChain,
  index: number,
  { pciAddress, previous }: PluginInput,
): string {
  const device = index === 0 ? { deviceID: pciAddress, pciBusID: pciAddress } : {};
  return JSON.stringify({
    ...plugins[index]?.conf,
    ...{ name, cniVersion, ...device },
    ...(previous !== undefined && { prevResult: previous }),
  });
}

/** Returns undefined if the text is not a JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value = parseLimitedJson(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
