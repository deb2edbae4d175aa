// SPDX-License-Identifier: Apache-2.0
/**
 * startBeacons sends a beacon on the interface twice a second and reports those of other pods. Beacons go to all hosts of the
 * Ethernet segment, by IPv6 multicast and IPv4 broadcast. They need no route and no neighbour, so they show to which segment a pod
 * is attached even if nothing else works.
 */
import { createSocket, type Socket } from "node:dgram";
import { isIPv4 } from "node:net";
import type { HeardObservation, ProbeSpec } from "../observation.ts";

const everyMs = 500;

/** `addresses` are those of the interface. Errors are ignored: an interface that is down cannot send. */
export function startBeacons(
  spec: ProbeSpec,
  {
    addresses,
    onHeard,
  }: { readonly addresses: readonly string[]; readonly onHeard: (heard: HeardObservation) => void },
): void {
  const { run, pod, network, interface: name } = spec;
  const port = spec.port + 1;
  const beacon = JSON.stringify({ run, pod, network });
  const heard = new Set<string>();
  const receive = (message: Buffer, { address }: { readonly address: string }): void => {
    // The scope of a link-local address is the interface that received the packet.
    if (address.includes("%") && !address.endsWith(`%${name}`)) return;
    const other = readBeacon(message, run);
    if (other === undefined || other.pod === pod || heard.has(other.pod)) return;
    heard.add(other.pod);
    onHeard({ kind: "heard", ...other });
  };

  const ipv6 = open("udp6");
  ipv6.on("message", receive).bind(port);
  const ipv4 = open("udp4");
  ipv4.on("message", receive).bind(port);
  const broadcasters = addresses.filter(isIPv4).map((address) => {
    const socket = open("udp4");
    // The kernel sends what is for 255.255.255.255 on the interface that has the source address.
    socket.bind(0, address, () => {
      socket.setBroadcast(true);
    });
    return socket;
  });
  setInterval(() => {
    attempt(() => {
      ipv6.setMulticastInterface(`::%${name}`);
      ipv6.send(beacon, port, `ff02::1%${name}`, () => undefined);
    });
    for (const socket of broadcasters) {
      attempt(() => {
        socket.send(beacon, port, "255.255.255.255", () => undefined);
      });
    }
  }, everyMs);
}

function open(type: "udp4" | "udp6"): Socket {
  const socket = createSocket({ type, reuseAddr: true, ipv6Only: type === "udp6" });
  socket.on("error", () => undefined);
  return socket;
}

/** The interface may have no address yet, or may be down. */
function attempt(send: () => void): void {
  try {
    send();
  } catch {
    // The next beacon is sent in half a second.
  }
}

function readBeacon(message: Buffer, run: string): Pick<HeardObservation, "pod" | "network"> | undefined {
  try {
    const beacon: unknown = JSON.parse(message.toString());
    if (typeof beacon !== "object" || beacon === null) return undefined;
    const fields = new Map<string, unknown>(Object.entries(beacon));
    const [pod, network] = [fields.get("pod"), fields.get("network")];
    const isOurs = fields.get("run") === run && typeof pod === "string" && typeof network === "string";
    return isOurs ? { pod, network } : undefined;
  } catch {
    return undefined;
  }
}
