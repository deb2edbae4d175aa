// SPDX-License-Identifier: Apache-2.0
/**
 * Keeps NetworkManager away from the bridges that Switchyard creates, by one udev rule for each bridge.
 * Usage: `await keepBridgeRule(host, "br-0000_3b_00.0")` before the bridge is created, `removeBridgeRule` after its removal.
 */
import { HostError, type Host } from "@switchyard/host";
import { bridgeRuleFile } from "./rule-files.ts";
import { keepFile } from "./keep-rules.ts";

/** Rejects with HostError: EINVAL if `bridge` cannot be the name of an interface, EEXIST for somebody else's file. */
export async function keepBridgeRule({ files, udev }: Pick<Host, "files" | "udev">, bridge: string): Promise<void> {
  const file = bridgeRuleFile(bridge);
  if (file === undefined)
    throw new HostError({ action: "write udev rule", target: JSON.stringify(bridge) }, "EINVAL", {});
  if (await keepFile(files, file)) await udev.reloadRules();
}

/** Removes the rule, if Switchyard wrote it. Rejects with HostError. */
export async function removeBridgeRule({ files, udev }: Pick<Host, "files" | "udev">, bridge: string): Promise<void> {
  const file = bridgeRuleFile(bridge);
  if (file === undefined) return;
  const { path, isUpstreams } = file;
  if (await keepFile(files, { path, isUpstreams })) await udev.reloadRules();
}
