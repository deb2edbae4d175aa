// SPDX-License-Identifier: Apache-2.0
/**
 * The probes of the connectivity guard: a TCP connection to the API server, and the default gateways as neighbours (ARP, neighbour
 * discovery). Only those that worked before a change say something after it.
 */
import { isIP } from "node:net";
import { HostError, type Host } from "@switchyard/host";
import { isRecord } from "@switchyard/kube";
import type { StepTiming } from "../deadlines/with-deadline.ts";

export type Probe =
  | { readonly kind: "api-server"; readonly address: string; readonly port: number }
  /** `link` is the name of the interface to the gateway before the change. */
  | { readonly kind: "gateway"; readonly address: string; readonly link: string };

/** "TCP connection to the API server 192.0.2.1, port 6443". */
export function describeProbe(probe: Probe): string {
  if (probe.kind === "gateway") return `default gateway ${probe.address} as neighbour on ${probe.link}`;
  return `TCP connection to the API server ${probe.address}, port ${probe.port}`;
}

/** Time for one answer. The kernel asks a neighbour three times, once a second. */
const answerMs = { "api-server": 2_000, gateway: 3_500 };

/** Reports whether the probe works now. An error of the kernel, such as of a route that does not exist, counts as no answer. */
async function works(probe: Probe, { connectivity, links }: Host): Promise<boolean> {
  try {
    if (probe.kind === "api-server") {
      return await connectivity.readAnswer(probe.address, probe.port, answerMs["api-server"]);
    }
    const name = probe.link;
    // The host can reach its gateway over another interface than before, such as a bridge.
    const present = (await connectivity.listGateways()).filter(({ address }) => address === probe.address);
    const before = (await links.listLinks()).find((link) => link.name === name || link.altNames.includes(name));
    const ways =
      present.length > 0 || before === undefined ? present : [{ address: probe.address, link: before.index }];
    const answers = await Promise.all(ways.map((way) => connectivity.readNeighbourAnswer(way, answerMs.gateway)));
    return answers.includes(true);
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    return false;
  }
}

/** Returns those that work now. */
export async function workingOf(probes: readonly Probe[], host: Host): Promise<readonly Probe[]> {
  const results = await Promise.all(probes.map((probe) => works(probe, host)));
  return probes.filter((_probe, nth) => results[nth]);
}

/** Time between two attempts. */
const pauseMs = 1_000;

export interface WaitOptions {
  readonly timing: Pick<StepTiming, "nowMs" | "sleep">;
  readonly timeoutMs: number;
  /** Ends the wait after the present attempt. */
  readonly signal: AbortSignal;
}

/** Waits until all probes have worked, and returns the first one that has not within the time limit. */
export async function firstFailing(
  probes: readonly Probe[],
  host: Host,
  { timing, timeoutMs, signal }: WaitOptions,
): Promise<Probe | undefined> {
  const endMs = timing.nowMs() + timeoutMs;
  let left = probes;
  for (;;) {
    const working = new Set(await workingOf(left, host));
    left = left.filter((probe) => !working.has(probe));
    if (left.length === 0 || signal.aborted || timing.nowMs() >= endMs) return left[0];
    await timing.sleep(Math.min(pauseMs, timeoutMs), signal);
  }
}

/** Returns undefined for a value that is no probe. */
export function parseProbe(value: unknown): Probe | undefined {
  if (!isRecord(value)) return undefined;
  const { kind, address, port, link } = value;
  if (typeof address !== "string" || isIP(address) === 0) return undefined;
  if (kind === "gateway" && typeof link === "string") return { kind, address, link };
  const isPort = typeof port === "number" && Number.isInteger(port) && port > 0 && port < 65_536;
  return kind === "api-server" && isPort ? { kind, address, port } : undefined;
}
