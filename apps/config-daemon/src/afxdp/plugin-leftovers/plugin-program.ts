// SPDX-License-Identifier: Apache-2.0
/**
 * pluginProgram decides whether an XDP program is a leftover of the plugins of upstream. Programs on the host use a program of the same
 * name: Open vSwitch and DPDK with AF_XDP, for example. So the record of the device must say that the plugin had the device in this
 * boot, and no AF_XDP socket may use the interface. It is a pure function.
 */
import type { AttachedProgram, UpstreamDevice, XdpUse } from "@switchyard/host";

export type PluginProgram =
  /** The interface has no program of the plugin. */
  | { readonly kind: "none" }
  | { readonly kind: "left"; readonly id: number; readonly name: string }
  /** It may be the plugin's, and stays. `why` is the end of a sentence about it. */
  | { readonly kind: "uncertain"; readonly name: string; readonly why: string };

/** Programs of libxdp, for sockets, and of xdp_afxdp_redirect.o, for pinned maps; the kernel keeps 15 characters of a name. */
const pluginNames: ReadonlySet<string> = new Set(["xsk_def_prog", "xdp_afxdp_redir"]);
/** libxdp runs several programs on one interface by a program of this name. */
const dispatcher = "xdp_dispatcher";
const none = { kind: "none" } as const;

/** `bootId` is that of the present boot. */
export function pluginProgram(use: XdpUse, record: UpstreamDevice, bootId: string): PluginProgram {
  if (record.bootId !== bootId) return none;
  const others = use.programs.filter(({ id, isOwn }) => !isOwn && id !== record.programBefore);
  const found = others.map(classify).find(({ kind }) => kind !== "none") ?? none;
  if (found.kind !== "left") return found;
  const why = useOf(use.sockets);
  return why === undefined ? found : { kind: "uncertain", name: found.name, why };
}

function classify({ id, name = "", mode, components }: AttachedProgram): PluginProgram {
  if (mode === "offloaded") return none;
  if (name !== dispatcher) return pluginNames.has(name) ? { kind: "left", id, name } : none;
  const own = components.find((component) => pluginNames.has(component));
  if (components.length === 0) return { kind: "uncertain", name, why: "it does not show which program it runs" };
  if (own === undefined) return none;
  if (components.length === 1) return { kind: "left", id, name: own };
  const more = components
    .filter((component) => component !== own)
    .map((component) => component || "one without a name");
  return { kind: "uncertain", name: own, why: `its dispatcher also runs other programs (${more.join(", ") || own})` };
}

/** Returns why it is not certain that nobody uses the program. */
function useOf(sockets: XdpUse["sockets"]): string | undefined {
  if (typeof sockets !== "number")
    return `the kernel does not say whether AF_XDP sockets of the host use the interface: ${sockets.unknown}`;
  return sockets === 0 ? undefined : `AF_XDP sockets of the host use the interface (${sockets})`;
}
