// SPDX-License-Identifier: Apache-2.0
/**
 * planForBoot changes a plan for a node that is configured while it boots: the daemon does not change PFs, it reboots the
 * node. The node reboots at most once for a configuration, and not at all if it matches its spec already. It is a pure function.
 */
import { err, ok } from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import { describeStep, isPfStep, type Plan, type PlanProblem, type Step } from "@switchyard/plan";
import { isLastingStep } from "../steps/step-phases.ts";
import type { ConnectivityGuard } from "../guard/connectivity-guard.ts";
import { createWithDeadline, type DeadlineDeps } from "../deadlines/with-deadline.ts";
import type { Observation } from "../observe/observe.ts";
import type { BeginPass } from "../pass/configure-node.ts";
import { createBootPreparation, type BootPreparationDeps, type PreparedBoot } from "./prepare-boot.ts";

/** Prefix of the causes in the record of reboots. */
const cause = "boot configuration";

export function planForBoot(
  next: Plan,
  { bootId, system }: Pick<Observation, "bootId" | "system">,
  boot: PreparedBoot,
): Plan {
  // A reboot for another reason applies the configuration, too.
  if (next.steps.some(({ kind }) => kind === "reboot")) return next;
  const ofDaemon = next.steps.filter(isOfDaemon);
  const atBoot = next.steps.filter(isAtBoot);
  const causes = (system.reboot?.causes ?? []).filter((each) => each.startsWith(`${cause} `));
  const isTried = system.reboot?.done === true && causes.length > 0;
  if (atBoot.length === 0) {
    const forget: readonly Step[] = isTried ? [{ kind: "forget-reboots", causes }] : [];
    return { ...next, steps: [...forget, ...ofDaemon], ...impactOf(next, ofDaemon) };
  }

  const id = `${cause} ${boot.configDigest}`;
  const problem = problemOf(atBoot, bootId, boot, isTried && causes.includes(id));
  if (problem !== undefined) {
    return { ...next, steps: ofDaemon, ...impactOf(next, ofDaemon), problems: [...next.problems, problem] };
  }
  const text = `the node is in systemd mode and reboots to ${describeAll(atBoot)}`;
  return {
    ...next,
    steps: [...ofDaemon, { kind: "reboot", causes: [id], isPending: true }],
    impact: "reboot",
    reasons: [{ field: "spec.interfaces", text }],
  };
}

/** Steps that the daemon runs: settings of the node that need no VFs, and those that a boot keeps. */
function isOfDaemon(step: Step): boolean {
  return isLastingStep(step) || (!isPfStep(step) && step.kind !== "load-module");
}

function isAtBoot(step: Step): boolean {
  return isPfStep(step) && !isLastingStep(step);
}

function impactOf({ impact, reasons }: Plan, ofDaemon: readonly Step[]): Pick<Plan, "impact" | "reasons"> {
  return ofDaemon.some(({ kind }) => kind === "set-firmware" || kind === "reset-firmware")
    ? { impact, reasons }
    : { impact: "none", reasons: [] };
}

/** Returns why a reboot would not help; undefined if it can help. */
function problemOf(
  atBoot: readonly Step[],
  bootId: string,
  { configDigest, result, obstacle }: PreparedBoot,
  isTried: boolean,
): PlanProblem | undefined {
  const problem = (message: string): PlanProblem => ({ code: "not-booted", field: "spec.interfaces", message });
  const missing = `not done yet: ${describeAll(atBoot)}`;
  if (obstacle !== undefined) return problem(`${obstacle}; ${missing}`);
  if (result?.bootID === bootId && result.configDigest === configDigest) {
    switch (result.syncStatus) {
      case "Failed":
        return problem(result.lastSyncError);
      case "InProgress":
        return problem(`post: sriov-config-post-network.service has not finished in this boot; ${missing}`);
      case "Succeeded":
        return problem(`the node was changed after its boot; the next boot configures it; ${missing}`);
    }
  }
  if (!isTried) return undefined;
  return problem(`pre: sriov-config.service did not run in the last boot; see its log with journalctl; ${missing}`);
}

/** At most three steps, because a card can have a hundred VFs. */
function describeAll(steps: readonly Step[]): string {
  const shown = steps.slice(0, maxShown).map(describeStep);
  const others = steps.length - shown.length;
  const more = others === 1 ? "1 other step" : `${others} other steps`;
  return [...shown, ...(others > 0 ? [more] : [])].join(", ");
}

const maxShown = 3;

export interface SystemdModeOptions extends BootPreparationDeps, DeadlineDeps {
  /** Records what the next boot changes, so that the boot can undo it. */
  readonly guard?: Pick<ConnectivityGuard, "open">;
}

/**
 * createSystemdMode is what a pass does on a node that is configured while it boots (SriovOperatorConfig.spec.configurationMode
 * "systemd"): it prepares the next boot, and reboots the node if that is needed.
 */
export function createSystemdMode(host: Host, options: SystemdModeOptions): BeginPass {
  const withDeadline = createWithDeadline(host, options);
  const prepareBoot = createBootPreparation(options);

  return async function beginPass(desired, found) {
    try {
      const prepared = await withDeadline((watched) => prepareBoot(watched, desired, found));
      if (!prepared.ok) return prepared;
      return ok(async (next, seen) => {
        const atBoot = next.steps.filter(isAtBoot);
        await options.guard?.open(atBoot, { found: seen, desired, isAtBoot: true });
        return planForBoot(next, seen, prepared.value);
      });
    } catch (thrown) {
      if (!(thrown instanceof HostError)) throw thrown;
      return err(thrown.message);
    }
  };
}
