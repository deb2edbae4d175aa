// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, SriovNetworkNodeState } from "@switchyard/api";
import { createFakeKernel, igb, plainNic, type FakeKernel, type FakeKernelOptions } from "@switchyard/host/testing";
import fc from "fast-check";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { daemonOn } from "../testing/daemon-on.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";
import { parseKnownNics } from "./known-nics.ts";
import { cloudNicsOf } from "./openstack.ts";
import { platformOf, type Platform } from "./platform.ts";

const first = "0000:00:05.0";
const second = "0000:00:06.0";
const firstMac = "fa:16:3e:00:00:05";
const networkId = "2e40d2a3-3d1c-4bf9-8c5e-6a6a3a9c1b52";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let url: string;
let answer: Answer;
let requests: string[];

beforeEach(async () => {
  requests = [];
  server = createServer((request, response) => {
    requests.push(`${request.method ?? ""} ${request.url ?? ""}`);
    answer(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** A metadata service with these files. */
function serving(files: Readonly<Record<string, string>>): Answer {
  return (request, response) => {
    const text = files[request.url ?? ""];
    response.writeHead(text === undefined ? 404 : 200).end(text);
  };
}

const networkData = JSON.stringify({
  links: [{ id: "tap1", type: "hw_veb", ethernet_mac_address: firstMac.toUpperCase() }],
  networks: [{ id: "network0", link: "tap1", network_id: networkId }],
});
const metaData = JSON.stringify({ devices: [{ type: "nic", mac: firstMac, bus: "pci", address: "0000:00:0f.0" }] });
const openstack = {
  "/openstack/2018-08-27/meta_data.json": metaData,
  "/openstack/2018-08-27/network_data.json": networkData,
};

/** A virtual machine without an IOMMU. Its first card is a VF of the hypervisor, the second one is its own network. */
function machine(options: Partial<FakeKernelOptions> = {}): FakeKernel {
  const cards = [plainNic(first), plainNic(second)];
  const [vf] = cards[0]?.ports ?? [];
  const mac = firstMac as NonNullable<typeof vf>["mac"];
  const passed = vf && { ports: [{ ...vf, vendor: "15b3", deviceId: "1018", driver: "mlx5_core", mac }] };
  return createFakeKernel({ nics: [...(passed ? [passed] : []), ...cards.slice(1)], iommu: false, ...options });
}

/** A virtual machine whose card is a PF with the SR-IOV capability. */
function machineWithPf(): FakeKernel {
  const card = igb(first);
  const [port] = card.ports;
  const mac = firstMac as NonNullable<typeof port>["mac"];
  return createFakeKernel({ nics: [{ ...card, ports: port === undefined ? [] : [{ ...port, mac }] }] });
}

function daemon(kernel: Pick<FakeKernel, "host">, platform: Platform = "openstack") {
  return daemonOn(kernel.host(), { virtual: { platform, metadataUrl: url } });
}

function state(spec: Partial<InterfaceSpec> | undefined, unselected: readonly string[] = []): SriovNetworkNodeState {
  const wanted = {
    pciAddress: first,
    numVfs: 1,
    vfGroups: [{ resourceName: "dpdk", vfRange: "0-0", deviceType: "vfio-pci" as const }],
  };
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", generation: 1 },
    spec: { interfaces: spec === undefined ? [] : [{ ...wanted, ...spec }], unselected },
  };
}

const nothing = state(undefined);

function cardOf(of: ReturnType<typeof daemonOn>, pf = first) {
  return of.shown().find(({ pciAddress }) => pciAddress === pf);
}

describe("the card of an OpenStack instance", () => {
  it("is shown as a PF with one VF, which is the PF itself, and with its network", async () => {
    answer = serving(openstack);
    const one = daemon(machine());
    expect(await one.pass(nothing)).toBe("settled");
    expect(cardOf(one)).toMatchObject({
      netFilter: `openstack/NetworkID:${networkId}`,
      mac: firstMac,
      totalvfs: 1,
      numVfs: 1,
      Vfs: [{ pciAddress: first, vfID: 0, mac: firstMac, driver: "mlx5_core", vendor: "15b3", deviceID: "1018" }],
    });
    expect(cardOf(one, second)).not.toHaveProperty("netFilter");
    await one.pass(nothing);
    expect(requests).toEqual(Object.keys(openstack).map((path) => `GET ${path}`));
  });

  it("is described by the config drive if there is one, without a request", async () => {
    answer = serving({});
    const files = Object.entries(openstack).map(([path, text]) => [path.slice(1), text]);
    const one = daemon(machine({ configDrive: Object.fromEntries(files) as Record<string, string> }));
    expect(await one.pass(nothing)).toBe("settled");
    expect(cardOf(one)?.netFilter).toBe(`openstack/NetworkID:${networkId}`);
    expect(requests).toEqual([]);
  });

  it("is bound to vfio-pci without an IOMMU, keeps its network, and is given back", async () => {
    answer = serving(openstack);
    const kernel = machine();
    const one = daemon(kernel);
    expect(await one.pass(state({}))).toBe("settled");
    expect(one.error()).toBe("");
    expect(cardOf(one)).toMatchObject({ driver: "vfio-pci", mac: firstMac, numVfs: 1, owned: true });

    answer = serving({}); // the next daemon cannot reach the metadata service
    const two = daemon(kernel);
    expect(await two.pass(state({}))).toBe("settled");
    expect(cardOf(two)?.netFilter).toBe(`openstack/NetworkID:${networkId}`);
    await two.pass(state(undefined, [first]));
    expect(cardOf(two)).toMatchObject({ driver: "mlx5_core", numVfs: 1 });
    expect(cardOf(two)).not.toHaveProperty("owned");
    expect(kernel.writes.filter(({ method }) => method === "setNumVfs")).toEqual([]);
  });

  it("is bound itself if it has the SR-IOV capability, and gets no VFs", async () => {
    answer = serving(openstack);
    const kernel = machineWithPf();
    const one = daemon(kernel);
    expect(await one.pass(state({}))).toBe("settled");
    expect([one.error(), cardOf(one)]).toMatchObject(["", { driver: "vfio-pci", mac: firstMac, numVfs: 1 }]);
    await one.pass(state(undefined, [first]));
    expect(cardOf(one)).toMatchObject({ driver: "igb", numVfs: 1 });
    expect(kernel.writes.filter(({ method }) => method === "setNumVfs")).toEqual([]);
  });

  it("reports a kernel that has neither an IOMMU nor no-IOMMU mode", async () => {
    answer = serving(openstack);
    const one = daemon(machine({ noIommuSupport: false }));
    expect(await one.pass(state({}))).toBe("retry");
    expect(one.error()).toBe("enable no-IOMMU mode on vfio: ENOENT");
    expect(cardOf(one)?.driver).toBe("mlx5_core");
  });

  it.each([
    { does: "two VFs", spec: { numVfs: 2 }, error: /numVfs: must be 1, not 2, because / },
    { does: "switchdev", spec: { eSwitchMode: "switchdev" }, error: /eSwitchMode: "switchdev" requested/ },
    { does: "InfiniBand", spec: { linkType: "IB" }, error: /linkType: "IB" requested/ },
    { does: "no group", spec: { vfGroups: [] }, error: /vfGroups: exactly one group/ },
    { does: "VF 1", spec: { vfGroups: [{ vfRange: "0-1" }] }, error: /vfGroups: exactly one group/ },
    {
      does: "an unknown driver",
      spec: { vfGroups: [{ vfRange: "0-0", deviceType: "../x" as "netdevice" }] },
      error: /is not supported/,
    },
  ])("cannot have $does", async ({ spec, error }) => {
    answer = serving(openstack);
    const kernel = machine();
    const one = daemon(kernel);
    expect(await one.pass(state(spec))).toBe("settled");
    expect(one.error()).toMatch(error);
    expect(kernel.writes.filter(({ port }) => port === "sriov")).toEqual([]);
  });

  it.each([
    { does: "has no metadata", give: serving({}), error: "HTTP status 404" },
    {
      does: "fails",
      give: ((_request, response) => response.writeHead(500).end("oops")) satisfies Answer,
      error: "HTTP status 500",
    },
    {
      does: "answers with a page",
      give: ((_request, response) => response.end("<html>login</html>")) satisfies Answer,
      error: 'the answer is not JSON: "<html>login</html>"',
    },
    {
      does: "redirects",
      give: ((_request, response) =>
        response.writeHead(302, { location: "http://example.com/" }).end()) satisfies Answer,
      error: "HTTP status 302",
    },
    {
      does: "answers with too much",
      give: ((_request, response) => response.end("x".repeat(2 << 20))) satisfies Answer,
      error: "the answer is larger than 1048576 bytes",
    },
    {
      does: "breaks off",
      give: ((request) => request.socket.destroy()) satisfies Answer,
      error: "UND_ERR_SOCKET",
    },
    {
      does: "has other JSON",
      give: (_request: IncomingMessage, response: ServerResponse) => response.end("[]"),
      error: "no lists links and networks",
    },
  ])(
    "is not known while the metadata service $does, which is reported and does not stop other work",
    async ({ give, error }) => {
      answer = give;
      const kernel = machine();
      const one = daemon(kernel);
      const other = state({ pciAddress: second, numVfs: 0, vfGroups: [] });
      expect(await one.pass(other)).toBe("settled");
      expect(one.error()).toContain(`spec.interfaces: `);
      expect(one.error()).toContain(error);
      answer = serving(openstack);
      // A new daemon does not wait for the pause after the failure.
      const later = daemon(kernel);
      await later.pass(nothing);
      expect(later.error()).toBe("");
      expect(cardOf(later)?.netFilter).toBe(`openstack/NetworkID:${networkId}`);
    },
  );

  it("is used as soon as a slow metadata service answers", async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    answer = (request, response) =>
      void promise.then(() => {
        serving(openstack)(request, response);
      });
    const one = daemon(machine());
    expect(await one.pass(nothing)).toBe("settled");
    expect(one.error()).toContain("has not arrived yet");
    resolve(undefined);
    await one.pass(nothing);
    expect(one.error()).toBe("");
    expect(cardOf(one)?.numVfs).toBe(1);
  }, 20_000);

  it.each([
    { when: "just before", isDone: false },
    { when: "just after", isDone: true },
  ])("is bound after a kill $when each write", async ({ isDone }) => {
    answer = serving(openstack);
    const undisturbed = machine();
    await daemon(undisturbed).pass(state({}));
    for (let nth = 1; nth <= undisturbed.writes.length; nth++) {
      const kernel = machine();
      const killed = killedAtWrite(kernel.host(), nth, isDone);
      await Promise.race([daemon({ host: () => killed.host }).pass(state({})), killed.death]);
      const next = daemon(kernel);
      expect([nth, await next.pass(state({}))]).toEqual([nth, "settled"]);
      expect([nth, next.error(), cardOf(next)]).toMatchObject([nth, "", { driver: "vfio-pci", mac: firstMac }]);
    }
  });
});

describe("the card of an AWS instance", () => {
  const macs = "/latest/meta-data/network/interfaces/macs/";

  it("gets its network from version 2 of the metadata service", async () => {
    answer = (request, response) => {
      if (request.url === "/latest/api/token") {
        const isAsked =
          request.method === "PUT" && request.headers["x-aws-ec2-metadata-token-ttl-seconds"] !== undefined;
        response.writeHead(isAsked ? 200 : 400).end("secret");
      } else if (request.headers["x-aws-ec2-metadata-token"] !== "secret") response.writeHead(401).end();
      else
        serving({ [macs]: `${firstMac}/\n`, [`${macs}${firstMac}/subnet-id`]: "subnet-0a1b2c3d" })(request, response);
    };
    const one = daemon(machine(), "aws");
    await one.pass(nothing);
    expect(one.error()).toBe("");
    expect(cardOf(one)?.netFilter).toBe("aws/NetworkID:0a1b2c3d");
    expect(requests).toEqual(["PUT /latest/api/token", `GET ${macs}`, `GET ${macs}${firstMac}/subnet-id`]);
  });

  it.each([
    {
      does: "no MAC addresses",
      files: { "/latest/api/token": "t", [macs]: "<html>\n../../x/" },
      error: "no MAC addresses",
    },
    {
      does: "another text for a subnet",
      files: { "/latest/api/token": "t", [macs]: firstMac, [`${macs}${firstMac}/subnet-id`]: "<p>" },
      error: "not the id of a subnet",
    },
    { does: "a token with line breaks", files: { "/latest/api/token": "a\nb" }, error: "not a token" },
  ])("is not known if the metadata service has $does", async ({ files, error }) => {
    answer = serving(files);
    const one = daemon(machine(), "aws");
    await one.pass(nothing);
    expect(one.error()).toContain(error);
  });
});

describe("a card on bare metal", () => {
  it("causes no request", async () => {
    answer = serving(openstack);
    const one = daemon(machine(), "baremetal");
    await one.pass(nothing);
    expect(requests).toEqual([]);
    expect(cardOf(one)).not.toHaveProperty("numVfs");
  });

  it.each([
    ["openstack:///83679162", "openstack"],
    ["aws:///eu-west-1a/i-0123", "aws"],
    ["kind://docker/x", "baremetal"],
    [undefined, "baremetal"],
  ] as const)("is recognised by the providerID %s", (providerId, platform) => {
    expect(platformOf(providerId)).toBe(platform);
  });
});

describe("metadata of any form", () => {
  it("has valid cards only, or is refused with MetadataError", () => {
    const text = fc.oneof(
      fc.constantFrom("links", "networks", "devices", "id", "link", "mac", "tap1", firstMac, networkId),
      fc.string(),
    );
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.integer(),
        fc.constant(null),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(
          fc.oneof(
            fc.constantFrom("links", "networks", "devices", "id", "link", "ethernet_mac_address", "network_id"),
            fc.string(),
          ),
          tie("value"),
        ),
      ),
    })).value;
    const holds = fc.property(json, json, (meta, network) => {
      try {
        for (const { mac, netFilter } of cloudNicsOf(meta, network)) {
          expect(mac).toMatch(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
          expect(netFilter).toMatch(/^openstack\/NetworkID:[\w-]{1,64}$/);
        }
      } catch (error) {
        expect(error).toMatchObject({ name: "MetadataError" });
      }
    });
    fc.assert(holds);
    fc.assert(fc.property(fc.oneof(fc.json(), fc.string()), (file) => void parseKnownNics(file)));
  });
});
