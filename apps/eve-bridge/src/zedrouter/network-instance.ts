// SPDX-License-Identifier: Apache-2.0
/**
 * Connects and checks interfaces in EVE's network instances: zedrouter creates the interface, the DHCP daemon acquires an
 * address, and zedrouter sets it (eve-and-afxdp.md a4). Virtual machines and air-gapped networks get no address.
 */
import { logged, waitFor, type Call, type Connect } from "../state/call.ts";
import { CniError, cniCode } from "../request/cni-error.ts";
import { isVirtualMachine } from "../network/routing-policy.ts";
import { connectZedrouter, podInterfaceOf, wantedInterfaceOf } from "./zedrouter-connection.ts";

/** Connects the interface. It dials zedrouter before the first record: a failure before that has created nothing. */
export const connectToNetworkInstance: Connect = async (call, record) => {
  const { request, timeouts } = call;
  const { args, env } = request;
  const pod = wantedInterfaceOf(request);

  // Not closed, because the process exits after ADD and closing the connection takes half a millisecond.
  const zedrouter = await connectZedrouter(call);
  record({ step: "connecting", lease: false });
  const { useDhcp, interfaces } = await logged(call, "RPC ConnectPodAtL2", () =>
    zedrouter.connectAtL2(pod, waitFor(call, timeouts.rpc)),
  );
  const index = interfaces.findIndex(({ name }) => name === env.ifName);
  if (index < 0) {
    const details = interfaces.map(({ name }) => name).join(" ");
    throw new CniError(cniCode.protocol, `zedrouter's answer does not contain interface ${env.ifName}`, { details });
  }
  if (!useDhcp || isVirtualMachine(args)) return { interfaces, ips: [], routes: [], dns: {} };

  const { acquireLease, daemonOf } = await import("../delegates/dhcp-lease.ts");
  const mac = interfaces[index]?.mac ?? args.mac;
  record({ step: "leasing", lease: true, mac, daemon: daemonOf(call.settings) });
  const ipam = await acquireLease(call, mac);
  await logged(call, "RPC ConnectPodAtL3", () => zedrouter.connectAtL3(pod, ipam, waitFor(call, timeouts.rpc)));
  const ips = ipam.ips.map((ip) => ({ ...ip, interface: index }));
  return { interfaces, ips, routes: ipam.routes, dns: ipam.dns };
};

/** Asks zedrouter and the DHCP daemon to check the interface. Throws their errors. Returns whether the daemon has its lease. */
export async function checkNetworkInstance(call: Call, mac: string | undefined): Promise<boolean> {
  const { request, timeouts } = call;
  const zedrouter = await connectZedrouter(call);
  try {
    const { usesDhcp } = await logged(call, "RPC CheckPodConnection", () =>
      zedrouter.check(podInterfaceOf(request), waitFor(call, timeouts.rpc)),
    );
    if (!usesDhcp || isVirtualMachine(request.args)) return false;
  } finally {
    zedrouter.close();
  }
  const { checkLease } = await import("../delegates/dhcp-lease.ts");
  await checkLease(call, mac);
  return true;
}
