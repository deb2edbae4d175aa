// SPDX-License-Identifier: Apache-2.0
/**
 * What the device plugin of provider upstream, that of afxdp-plugins-for-kubernetes, cannot offer (eve-and-afxdp.md b1). What
 * it refuses would end it, and so all pools of the node; what it leaves out would be missing without a word.
 * Usage: `upstreamPoolProblems(pool)`, `upstreamDeviceProblem({ name: "eth1" })`.
 */
import type { AfxdpInterfaceStatus, AfxdpPoolSpec } from "@switchyard/api";

/** A setting of a pool that the plugin cannot apply. */
interface UpstreamPoolProblem {
  /** Name of the field in policies and pools. */
  readonly field: "mode" | "bpfMapPinning" | "uid";
  readonly value: unknown;
  /** What is wrong and what to do. Does not name the field. */
  readonly message: string;
}

/** Why provider upstream offers no subfunctions. */
const upstreamSubfunctionText =
  "must be primary with provider upstream, whose device plugin offers no subfunctions that Switchyard creates: " +
  "use mode primary, or provider switchyard";

/** Returns why the plugin cannot offer the pool; empty if it can. */
export function upstreamPoolProblems({
  mode,
  bpfMapPinning,
  uid = 0,
}: Pick<AfxdpPoolSpec, "mode" | "bpfMapPinning" | "uid">): readonly UpstreamPoolProblem[] {
  const problems: UpstreamPoolProblem[] = [];
  if (mode === "subfunction") problems.push({ field: "mode", value: mode, message: upstreamSubfunctionText });
  if (bpfMapPinning === true && uid !== 0) {
    const message =
      `must be false with uid ${uid} and provider upstream, whose device plugin then refuses every request for a device: ` +
      "use udsServer, uid 0, or provider switchyard";
    problems.push({ field: "bpfMapPinning", value: true, message });
  }
  if (uid > maxUpstreamUid) {
    const message = `must be at most ${maxUpstreamUid} with provider upstream, whose device plugin refuses higher user IDs: use provider switchyard`;
    problems.push({ field: "uid", value: uid, message });
  }
  return problems;
}

/** The limit of the plugin for the field UID. */
const maxUpstreamUid = 256_000;

/** Returns why a setting has no effect; undefined if there is none. */
export function upstreamIgnored({
  udsServer = true,
  bpfMapPinning,
}: Pick<AfxdpPoolSpec, "udsServer" | "bpfMapPinning">): Omit<UpstreamPoolProblem, "field"> | undefined {
  if (!udsServer || bpfMapPinning !== true) return undefined;
  const message =
    "has no effect with bpfMapPinning and provider upstream, whose device plugin passes a map either way, not both: " +
    "set it to false";
  return { value: udsServer, message };
}

/** Interfaces whose names begin with one of these are left out by the plugin. */
const prohibitedPrefixes = ["eno", "eth", "lo", "docker", "flannel", "cni"] as const;

/** Returns why the plugin does not offer the device; undefined if it does, or if its name is not known. */
export function upstreamDeviceProblem(device: AfxdpInterfaceStatus): string | undefined {
  const { name } = device;
  if (isVirtual(device)) {
    return "the device plugin of provider upstream offers physical devices only: use provider switchyard";
  }
  return name ? upstreamNameProblem(name) : undefined;
}

/** Returns why the plugin does not offer an interface of this name; undefined if it does. */
function upstreamNameProblem(name: string): string | undefined {
  const cure = "rename the interface, or use provider switchyard";
  if (!/^[a-zA-Z0-9_-]{1,50}$/.test(name)) {
    return `the device plugin of provider upstream accepts only letters, digits, "-" and "_" in the name "${name}": ${cure}`;
  }
  const prefix = prohibitedPrefixes.find((each) => name.startsWith(each));
  if (prefix === undefined) return undefined;
  return `the device plugin of provider upstream leaves out interfaces whose names begin with "${prefix}": ${cure}`;
}

/** A device that is on the host and has no driver is virtual. */
function isVirtual({ pciAddress, name, driver, linkAdminState }: AfxdpInterfaceStatus): boolean {
  return !pciAddress && Boolean(name) && linkAdminState !== undefined && (driver === undefined || driver === "veth");
}
