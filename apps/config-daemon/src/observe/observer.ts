// SPDX-License-Identifier: Apache-2.0
/**
 * Observes the host, but waits for it only so long, and leaves out what must not be asked now.
 * Usage: `const look = createLook(host, { timing, now }); const seen = await look(rowsOfHangingPfs); if (seen.ok) …`.
 */
import { err, ok, parsePciAddress, type InterfaceStatus, type Result } from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import { observe, type Observation } from "./observe.ts";
import { createPatience, type PatienceDeps } from "../deadlines/with-deadline.ts";

/**
 * What the host has now, or why it cannot be read, in words. PFs of `leftOut` are not looked at: to read one whose VF
 * count is being written waits for the end of that. They are shown as they were.
 */
export type Look = (leftOut: readonly InterfaceStatus[]) => Promise<Result<Observation, string>>;

export function createLook(host: Host, deps: PatienceDeps): Look {
  const within = createPatience(host, deps);

  return async function look(leftOut) {
    try {
      const seen = await within((watched) => observe(without(watched, leftOut)));
      return seen.ok ? ok(withRows(seen.value, leftOut)) : seen;
    } catch (thrown) {
      if (!(thrown instanceof HostError)) throw thrown;
      return err(thrown.message);
    }
  };
}

function without(host: Host, leftOut: readonly InterfaceStatus[]): Host {
  if (leftOut.length === 0) return host;
  const except = leftOut.flatMap(({ pciAddress }) => {
    const parsed = parsePciAddress(pciAddress);
    return parsed.ok ? [parsed.value] : [];
  });
  return { ...host, sriov: { ...host.sriov, listPfs: () => host.sriov.listPfs(except) } };
}

function withRows(observation: Observation, leftOut: readonly InterfaceStatus[]): Observation {
  if (leftOut.length === 0) return observation;
  const interfaces = [...observation.interfaces, ...leftOut];
  return { ...observation, interfaces: interfaces.toSorted((a, b) => (a.pciAddress < b.pciAddress ? -1 : 1)) };
}
