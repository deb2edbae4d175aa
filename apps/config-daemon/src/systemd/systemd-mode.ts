// SPDX-License-Identifier: Apache-2.0
/**
 * createSystemdMode is what a pass does on a node that is configured while it boots (SriovOperatorConfig.spec.configurationMode
 * "systemd"): it prepares the next boot, and reboots the node if that is needed.
 * Usage: `await configureNode(state, { …, beginPass: createSystemdMode(host, options) }, signal);`
 */
import { err, ok } from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import { createWithDeadline, type DeadlineDeps } from "../deadlines/with-deadline.ts";
import type { BeginPass } from "../pass/configure-node.ts";
import { planForBoot } from "./plan-for-boot.ts";
import { createBootPreparation, type BootPreparationDeps } from "./prepare-boot.ts";

export interface SystemdModeOptions extends BootPreparationDeps, DeadlineDeps {}

export function createSystemdMode(host: Host, options: SystemdModeOptions): BeginPass {
  const withDeadline = createWithDeadline(host, options);
  const prepareBoot = createBootPreparation(options);

  return async function beginPass(desired, found) {
    try {
      const prepared = await withDeadline((watched) => prepareBoot(watched, desired, found));
      if (!prepared.ok) return prepared;
      return ok((next, seen) => planForBoot(next, seen, prepared.value));
    } catch (thrown) {
      if (!(thrown instanceof HostError)) throw thrown;
      return err(thrown.message);
    }
  };
}
