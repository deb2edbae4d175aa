// SPDX-License-Identifier: Apache-2.0
/**
 * `eve-bridge doctor`: what is missing on a node for pods to be connected.
 * Usage: `const report = await runDoctor({ env: process.env }); process.exit(report.healthy ? 0 : 1)`.
 */
import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import { listRecords, locksIn } from "../state/attachment-record.ts";
import { describe } from "../request/cni-error.ts";
import { findPlugin } from "../delegates/delegate.ts";
import { oldestNode } from "./install.ts";
import { isArray, isObject, parseJson } from "../request/json.ts";
import { tryLock } from "../state/owner-lock.ts";
import { lookIntoPod } from "../network/pod-network.ts";
import { runCommand } from "../delegates/run-command.ts";
import { nobodyListens } from "../zedrouter/socket-probe.ts";
import { defaultSettings, readSettings, type Settings } from "../request/settings.ts";

/** One thing that was looked at. */
export interface Finding {
  readonly check: string;
  /** "warning": pods work, but something will be missed. "missing": some ADD will fail. */
  readonly state: "ok" | "warning" | "missing";
  /** What was found. */
  readonly found: string;
  /** What to do; "" when nothing is wrong. */
  readonly advice: string;
}

/** All of it. */
export interface DoctorReport {
  readonly healthy: boolean;
  readonly findings: readonly Finding[];
}

/** Where runtimes look when they do not say. */
export const defaultPluginPath = "/opt/cni/bin:/var/lib/cni/bin";

const probeMs = 2_000;
/** EVE's configurations are 0.3.1; what we ask delegates in is the same. */
const neededVersion = "0.3.1";

/** Looks at this node. Nothing is changed but for a lock that is made and removed. */
export async function runDoctor({ env }: { env: NodeJS.ProcessEnv }): Promise<DoctorReport> {
  const path = env["CNI_PATH"] ?? defaultPluginPath;
  const { settings, finding } = settingsOf(env);
  const findings = [
    finding,
    nodeVersion(),
    root(),
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
  ];
  return { healthy: findings.every(({ state }) => state !== "missing"), findings };
}

/** A line each, and what to do below. */
export function formatReport({ healthy, findings }: DoctorReport): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.map(({ check, state, found, advice }) => {
    const line = `${state.padEnd(7)}  ${check.padEnd(width)}  ${found}`;
    return advice === "" ? line : `${line}\n${" ".repeat(9)}${" ".repeat(width)}  -> ${advice}`;
  });
  return `${lines.join("\n")}\n\n${healthy ? "Pods can be connected." : "Something is missing: pods will fail."}\n`;
}

function settingsOf(env: NodeJS.ProcessEnv): { settings: Settings; finding: Finding } {
  const check = "settings";
  try {
    const settings = readSettings(env);
    const found = settings === defaultSettings ? "defaults" : "read from a file";
    return { settings, finding: ok(check, found) };
  } catch (error) {
    const advice = "correct the file: until then every call fails";
    return { settings: defaultSettings, finding: { check, state: "missing", found: describe(error), advice } };
  }
}

function nodeVersion(): Finding {
  const check = "Node";
  const major = Number(process.versions.node.split(".")[0]);
  if (major >= oldestNode) return ok(check, process.version);
  return { check, state: "missing", found: process.version, advice: `install again with Node ${oldestNode} or later` };
}

function root(): Finding {
  const check = "rights";
  if (process.getuid?.() === 0) return ok(check, "root");
  return {
    check,
    state: "warning",
    found: "not root",
    advice: "run the doctor as root, as the runtime runs the plugin",
  };
}

async function pluginAnswers(plugin: string, path: string): Promise<Finding> {
  const check = `plugin ${plugin}`;
  const fail = (found: string) =>
    ({ check, state: "missing", found, advice: `install it into one of ${path}` }) as const;
  try {
    const file = findPlugin(plugin, path);
    const versions = await askVersions(file);
    return versions.includes(neededVersion)
      ? ok(check, `${file}: CNI ${versions.join(" ")}`)
      : fail(`${file} does not speak CNI ${neededVersion}`);
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

async function zedrouterListens({ rpcSocket }: Settings): Promise<Finding> {
  const check = "zedrouter";
  if (!(await nobodyListens(rpcSocket))) return ok(check, rpcSocket);
  const advice = "zedrouter listens only where the hypervisor type is k: see /run/eve-hv-type and its log";
  return { check, state: "missing", found: `nobody listens on ${rpcSocket}`, advice };
}

async function daemonListens({ dhcpSocket }: Settings): Promise<Finding> {
  const check = "DHCP daemon";
  if (!(await nobodyListens(dhcpSocket))) return ok(check, dhcpSocket);
  const advice = "start `dhcp daemon` of the CNI plugins; only virtual machines do without";
  return { check, state: "missing", found: `nobody listens on ${dhcpSocket}`, advice };
}

async function podsCanBeSeen(): Promise<Finding> {
  const check = "nsenter, ip";
  try {
    await lookIntoPod("/proc/self/ns/net", { timeoutMs: probeMs });
    return ok(check, "work");
  } catch (error) {
    return {
      check,
      state: "warning",
      found: describe(error),
      advice: "install util-linux and iproute2: CHECK needs them",
    };
  }
}

function stateCanBeKept({ stateDir }: Settings): Finding {
  const check = "state";
  try {
    tryLock({ dir: locksIn(stateDir), name: "doctor" })?.release();
    return ok(check, stateDir);
  } catch (error) {
    return { check, state: "missing", found: describe(error), advice: `${stateDir} must be writable: every ADD fails` };
  }
}

function logCanBeWritten({ logFile }: Settings): Finding {
  const check = "log";
  const place = existsSync(logFile)
    ? logFile
    : existsSync(dirname(logFile))
      ? dirname(logFile)
      : dirname(dirname(logFile));
  try {
    accessSync(place, constants.W_OK);
    return ok(check, logFile);
  } catch (error) {
    return { check, state: "warning", found: describe(error), advice: "pods are connected without a log" };
  }
}

function routingPolicy({ markerDir }: Settings): Finding {
  const found = existsSync(markerDir) ? `by zedkube's markers in ${markerDir}` : "by namespace: there are no markers";
  return ok("eth0's default route", found);
}

function leftovers({ stateDir }: Settings): Finding {
  const check = "interfaces";
  const records = listRecords(stateDir);
  const stale = records.filter(({ netns }) => !existsSync(netns));
  if (stale.length === 0) return ok(check, `${records.length} known`);
  const found = `${stale.length} of ${records.length} belong to pods that are gone`;
  const names = stale.map(({ containerId, ifName }) => `${containerId.slice(0, 12)} ${ifName}`).join(", ");
  return { check, state: "warning", found, advice: `the runtime's next DEL or GC removes them: ${names}` };
}

function ok(check: string, found: string): Finding {
  return { check, state: "ok", found, advice: "" };
}
