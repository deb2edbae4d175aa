// SPDX-License-Identifier: Apache-2.0
/**
 * The program in the pods of `switchyard verify`. It gets a ProbeSpec in the environment variable SWITCHYARD_VERIFY, and prints
 * observations. `npm run generate` bundles it into probe.gen.ts, so that pods run the program of the command that reads its output.
 */
import { isIPv6 } from "node:net";
import type { Observation, ProbeSpec, ProbeTarget, TargetObservation } from "../observation.ts";
import { startBeacons } from "./beacons.ts";
import { answerEchoes, sendEchoes } from "./echo.ts";
import { awaitInterface, readText } from "./read-interface.ts";
import { fragmentsIn, neighbourOf, routeInterface } from "./routes.ts";
import { measureThroughput, receiveStreams } from "./throughput.ts";

const smallBytes = 84;
/** Time for the interface to get its carrier and its addresses. */
const linkSeconds = 10;
const echo = { count: 3, waitMs: 1500 };
/** Packets that may be lost while the neighbour is asked for the first time. */
const patientEcho = { count: 5, waitMs: 1500 };

// The command line that made the pod has written it.
const spec = JSON.parse(process.env["SWITCHYARD_VERIFY"] ?? "{}") as ProbeSpec;
setTimeout(() => process.exit(0), spec.deadlineSeconds * 1000);
process.on("SIGTERM", () => process.exit(0));

const seen = await awaitInterface(spec.interface, linkSeconds);
print(seen);
const own = (seen.found?.addresses ?? []).map((cidr) => cidr.replace(/\/.*/, ""));
startBeacons(spec, { addresses: own, onHeard: print });
for (const address of own) {
  answerEchoes(address, spec.port);
  receiveStreams(address, spec.port + 2);
}
if (spec.listenSeconds > 0) {
  for (const target of spec.targets) print(await observeTarget(target, seen.found?.mtu ?? 1500));
  await new Promise((resolve) => setTimeout(resolve, spec.listenSeconds * 1000));
  print({ kind: "done" });
}

async function observeTarget({ pod, address }: ProbeTarget, mtu: number): Promise<TargetObservation> {
  const isSix = isIPv6(address);
  const from = own.find((candidate) => isIPv6(candidate) === isSix) ?? (isSix ? "::" : "0.0.0.0");
  const way = { from, to: address, port: spec.port, fragments };
  const small = await sendEchoes({ ...way, ...patientEcho, bytes: smallBytes });
  // Where no small packet returns, no large one does.
  const count = small.received > 0 ? echo.count : 0;
  const full = await sendEchoes({ ...way, ...echo, count, bytes: mtu });
  const neighbour = neighbourOf(readText("/proc/net/arp"), { address, name: spec.interface });
  const route = routeInterface(readText(isSix ? "/proc/net/ipv6_route" : "/proc/net/route"), address);
  return {
    kind: "target",
    pod,
    ...(route !== undefined && { routeInterface: route }),
    ...(neighbour !== undefined && { neighbour }),
    small,
    full,
    ...(spec.throughputSeconds > 0 && small.received > 0 && (await throughputTo(address, from))),
  };
}

async function throughputTo(
  to: string,
  from: string,
): Promise<Pick<TargetObservation, "throughputMbps" | "throughputError">> {
  try {
    const seconds = spec.throughputSeconds;
    return { throughputMbps: Math.round(await measureThroughput({ from, to, port: spec.port + 2, seconds })) };
  } catch (error) {
    return { throughputError: error instanceof Error ? error.message : String(error) };
  }
}

function fragments(): number {
  return fragmentsIn(`${readText("/proc/net/snmp")}\n${readText("/proc/net/snmp6")}`);
}

function print(observation: Observation): void {
  process.stdout.write(`${JSON.stringify(observation)}\n`);
}
