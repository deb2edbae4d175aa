// SPDX-License-Identifier: Apache-2.0
/**
 * runDoctor implements `eve-bridge doctor`: it checks whether this node has what eve-bridge needs to connect pods.
 * Usage: `const report = await runDoctor({ env: process.env }); process.exit(report.healthy ? 0 : 1)`.
 */
import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import { listRecords, locksIn } from "../state/attachment-record.ts";
import { describe } from "../request/cni-error.ts";
import { findPlugin } from "../delegates/delegate.ts";
import { leasesIn, unrenewedLeases } from "./renew.ts";
import { oldestNode } from "./install.ts";
import { isArray, isObject, parseJson } from "../request/json.ts";
import { tryLock } from "../state/owner-lock.ts";
import { readPodNetwork } from "../network/pod-network.ts";
import { runCommand } from "../process/run-command.ts";
import { hasNoListener } from "../process/socket-probe.ts";
import { defaultSettings, readSettings, type Settings } from "../request/settings.ts";

/** The result of one check. */
export interface CheckResult {
  readonly check: string;
  /**
   * "warning": pods can be connected, but a function is impaired. "failing": connected pods lose their network. "missing": an ADD will
   * fail.
   */
  readonly state: "ok" | "warning" | "failing" | "missing";
  /** What was found. */
  readonly found: string;
  /** What to do; "" if the state is "ok". */
  readonly advice: string;
}

/** The results of all checks. `healthy` means that no state is "missing" or "failing". */
export interface DoctorReport {
  readonly healthy: boolean;
  readonly findings: readonly CheckResult[];
}

/** The plugin directories if CNI_PATH is not set. */
const defaultPluginPath = "/opt/cni/bin:/var/lib/cni/bin";

const probeMs = 2_000;
/** The CNI version of EVE's configurations, which delegated plugins must support. */
const neededVersion = "0.3.1";

/** Checks this node. It changes nothing, except that it creates a lock and removes it. */
export async function runDoctor({ env }: { env: NodeJS.ProcessEnv }): Promise<DoctorReport> {
  const path = env["CNI_PATH"] ?? defaultPluginPath;
  const { settings, finding } = settingsOf(env);
  const findings = [
    finding,
    nodeVersion(),
    currentUser(),
    ...(await Promise.all([
      ...["eve-bridge", "bridge", "host-local", "dhcp"].map((plugin) => pluginAnswers(plugin, path)),
      zedrouterListens(settings),
      daemonListens(settings),
      podsCanBeSeen(),
    ])),
    stateCanBeKept(settings),
    logCanBeWritten(settings),
    routingPolicy(settings),
    leftovers(settings),
    leases(settings),
  ];
  return { healthy: findings.every(({ state }) => state !== "missing" && state !== "failing"), findings };
}

/** Formats one line per check, followed by a line with the advice if there is any. */
export function formatReport({ healthy, findings }: DoctorReport): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.map(({ check, state, found, advice }) => {
    const line = `${state.padEnd(7)}  ${check.padEnd(width)}  ${found}`;
    return advice === "" ? line : `${line}\n${" ".repeat(9)}${" ".repeat(width)}  -> ${advice}`;
  });
  const isMissing = findings.some(({ state }) => state === "missing");
  const end = healthy
    ? "Pods can be connected."
    : isMissing
      ? "Pods cannot be connected: see the lines marked missing."
      : "Pods can be connected, but connected pods lose their network: see the lines marked failing.";
  return `${lines.join("\n")}\n\n${end}\n`;
}

function settingsOf(env: NodeJS.ProcessEnv): { settings: Settings; finding: CheckResult } {
  const check = "settings";
  try {
    const settings = readSettings(env);
    const found = settings === defaultSettings ? "defaults" : "from a file";
    return { settings, finding: ok(check, found) };
  } catch (error) {
    const advice = "correct the settings file; every call fails until then";
    return { settings: defaultSettings, finding: { check, state: "missing", found: describe(error), advice } };
  }
}

function nodeVersion(): CheckResult {
  const check = "Node.js";
  const major = Number(process.versions.node.split(".")[0]);
  if (major >= oldestNode) return ok(check, process.version);
  return {
    check,
    state: "missing",
    found: process.version,
    advice: `install eve-bridge with Node.js ${oldestNode} or later`,
  };
}

function currentUser(): CheckResult {
  const check = "user";
  if (process.getuid?.() === 0) return ok(check, "root");
  return {
    check,
    state: "warning",
    found: "not root",
    advice: "run the doctor as root, because the container runtime runs eve-bridge as root",
  };
}

async function pluginAnswers(plugin: string, path: string): Promise<CheckResult> {
  const check = `plugin ${plugin}`;
  const fail = (found: string) =>
    ({ check, state: "missing", found, advice: `install plugin ${plugin} into a directory of ${path}` }) as const;
  try {
    const file = findPlugin(plugin, path);
    const versions = await askVersions(file);
    return versions.includes(neededVersion)
      ? ok(check, `${file}: CNI ${versions.join(" ")}`)
      : fail(`${file} does not support CNI ${neededVersion}`);
  } catch (error) {
    return fail(describe(error));
  }
}

async function askVersions(file: string): Promise<string[]> {
  const env = { ...process.env, CNI_COMMAND: "VERSION" };
  const stdin = JSON.stringify({ cniVersion: neededVersion });
  const { stdout } = await runCommand(file, [], { env, stdin, timeoutMs: probeMs });
  const answer = parseJson(stdout);
  const versions = isObject(answer) ? answer["supportedVersions"] : undefined;
  return isArray(versions) ? versions.filter((version) => typeof version === "string") : [];
}

async function zedrouterListens({ rpcSocket }: Settings): Promise<CheckResult> {
  const check = "zedrouter";
  if (!(await hasNoListener(rpcSocket))) return ok(check, rpcSocket);
  const advice = "check that /run/eve-hv-type is k, which zedrouter needs to listen, and read zedrouter's log";
  return { check, state: "missing", found: `no process listens on ${rpcSocket}`, advice };
}

async function daemonListens({ dhcpSocket }: Settings): Promise<CheckResult> {
  const check = "DHCP daemon";
  if (!(await hasNoListener(dhcpSocket))) return ok(check, dhcpSocket);
  const advice = "start `dhcp daemon` of the CNI plugins; only virtual machines can be connected without it";
  return { check, state: "missing", found: `no process listens on ${dhcpSocket}`, advice };
}

async function podsCanBeSeen(): Promise<CheckResult> {
  const check = "nsenter, ip";
  try {
    await readPodNetwork("/proc/self/ns/net", { timeoutMs: probeMs });
    return ok(check, "both work");
  } catch (error) {
    return {
      check,
      state: "warning",
      found: describe(error),
      advice: "install util-linux and iproute2, which CHECK needs",
    };
  }
}

function stateCanBeKept({ stateDir }: Settings): CheckResult {
  const check = "state directory";
  try {
    tryLock({ dir: locksIn(stateDir), name: "doctor" })?.release();
    return ok(check, stateDir);
  } catch (error) {
    const advice = `make ${stateDir} writable; every ADD fails until then`;
    return { check, state: "missing", found: describe(error), advice };
  }
}

function logCanBeWritten({ logFile }: Settings): CheckResult {
  const check = "log file";
  const writtenPath = existsSync(logFile)
    ? logFile
    : existsSync(dirname(logFile))
      ? dirname(logFile)
      : dirname(dirname(logFile));
  try {
    accessSync(writtenPath, constants.W_OK);
    return ok(check, logFile);
  } catch (error) {
    const advice = `make ${writtenPath} writable; calls are not logged until then`;
    return { check, state: "warning", found: describe(error), advice };
  }
}

function routingPolicy({ markerDir }: Settings): CheckResult {
  const found = existsSync(markerDir)
    ? `set by zedkube's markers in ${markerDir}`
    : `set by the pod's namespace, because ${markerDir} does not exist`;
  return ok("default route", found);
}

function leftovers({ stateDir }: Settings): CheckResult {
  const check = "interfaces";
  const records = listRecords(stateDir);
  const stale = records.filter(({ netns }) => !existsSync(netns));
  if (stale.length === 0) return ok(check, `${records.length} recorded`);
  const found = `${stale.length} of ${records.length} belong to pods that no longer exist`;
  const names = stale.map(({ containerId, ifName }) => `${containerId.slice(0, 12)} ${ifName}`).join(", ");
  return { check, state: "warning", found, advice: `the next DEL or GC removes them: ${names}` };
}

/** A DHCP daemon forgets its leases when it ends, and renews only those that it has requested itself. */
function leases(settings: Settings): CheckResult {
  const check = "leases";
  const all = leasesIn(settings.stateDir);
  const lost = unrenewedLeases(settings);
  if (lost.length === 0) return ok(check, `${all.length} recorded`);
  const found =
    lost.length === 1
      ? `1 of ${all.length} is from before the start of the DHCP daemon, which does not renew it`
      : `${lost.length} of ${all.length} are from before the start of the DHCP daemon, which does not renew them`;
  const names = lost.map(({ containerId, ifName }) => `${containerId.slice(0, 12)} ${ifName}`).join(", ");
  const advice = `run \`eve-bridge renew\`, or start these pods again: ${names}`;
  return { check, state: "failing", found, advice };
}

function ok(check: string, found: string): CheckResult {
  return { check, state: "ok", found, advice: "" };
}
