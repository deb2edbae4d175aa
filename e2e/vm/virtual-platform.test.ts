// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the network cards of OpenStack and AWS instances on a real kernel. A config drive that genisoimage made is a
 * disk of the guest, and HTTP servers in the guest have the link-local address of the metadata services. The emulated
 * igb is the card. The operator, the API server and the drivers are real.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import type { InterfaceStatus } from "@switchyard/api";
import {
  applyPolicy,
  createNode,
  namespace,
  policyIs,
  policySpec,
  type NodeLog,
  type TestCluster,
} from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import type { GuestNode } from "@switchyard/vm-lab/guest-node";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { disposeOf } from "../src/dispose-of.ts";
import { startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";

const pf = "0000:01:00.0";
/** The card in the config drive. */
const mac = "fa:16:3e:00:00:01";
const driveImage = new URL("../../libs/host/src/linux/testdata/config-drive.iso.gz", import.meta.url);
const driveLink = "/dev/disk/by-label/config-2";
const recorded = "/etc/sriov-operator/virtual-nics.json";
const answers = "/run/metadata.json";
const withinMs = 240_000;
const limitMs = 900_000;

/**
 * A metadata service whose answers are in a file: { "PUT /path": [status, text] }. "*" answers all other requests. Version 2 of
 * AWS' service refuses requests without the token.
 */
const metadataService = `
const { appendFileSync, readFileSync } = require("node:fs");
require("node:http").createServer((request, response) => {
  const given = JSON.parse(readFileSync("${answers}", "utf8"));
  const [status, text] = given[request.method + " " + request.url] ?? given["*"] ?? [404, "not found"];
  const isAllowed = given.token === undefined || request.method === "PUT" ||
    request.headers["x-aws-ec2-metadata-token"] === given.token;
  appendFileSync("/run/metadata-requests", request.method + " " + request.url + "\\n");
  response.writeHead(isAllowed ? status : 401).end(isAllowed ? text : "");
}).listen(80, "169.254.169.254");
`;

let directory: string;
let watched: WatchedNode;
let testCluster: TestCluster;
let news: NodeLog;
let node: GuestNode;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "switchyard-cloud-"));
  const drive = join(directory, "config-drive.iso");
  await writeFile(drive, gunzipSync(await readFile(driveImage)));
  await writeFile(join(directory, "service.cjs"), metadataService);
  watched = await startWatchedNode({ udev: true, disks: [drive] });
  ({ testCluster, news, node } = watched);
  await node.guest.push(join(directory, "service.cjs"), "/run/service.cjs");
  await inGuest(`ip link set enp1s0f0 address ${mac}; ip address add 169.254.169.254/32 dev lo`);
  await serve({});
  const service = node.guest.spawn(["node", "/run/service.cjs"]);
  service.stderr.resume();
  service.stdout.resume();
}, 900_000);

beforeEach(() => inGuest(`rm -f ${recorded} /run/metadata-requests`), limitMs);

// A test that fails leaves its daemon, and the next daemon would wait for its lock.
afterEach(() => inGuest('pkill -KILL -f "[m]ain.mjs --kubeconfig" || true'), limitMs);

afterAll(async () => {
  await disposeOf(watched);
  await rm(directory, { recursive: true });
}, 60_000);

const inGuest = (command: string) => watched.inGuest(command);

type Answers = Readonly<Record<string, readonly [status: number, text: string] | string>>;

async function serve(given: Answers): Promise<void> {
  const file = join(directory, "answers.json");
  await writeFile(file, JSON.stringify(given));
  await node.guest.push(file, `${answers}.new`);
  await inGuest(`mv ${answers}.new ${answers}`);
}

/** Registers the node with the providerID of a cloud. A providerID cannot be changed. */
async function register(providerID: string): Promise<void> {
  await testCluster.kubectl(["delete", "node", "vm"]);
  await createNode(testCluster, "vm");
  await testCluster.kubectl(["patch", "node", "vm", "--type=merge", "-p", JSON.stringify({ spec: { providerID } })]);
}

async function withDaemon(act: () => Promise<void>): Promise<void> {
  const daemon = node.startDaemon();
  await act();
  daemon.kill("SIGTERM");
  expect(await daemon.exitCode).toBe(0);
}

const status = () => news.states.get("vm")?.status;
const card = (): InterfaceStatus | undefined => status()?.interfaces?.find(({ pciAddress }) => pciAddress === pf);

async function hasNetwork(netFilter: string): Promise<void> {
  await eventually(`the card is in ${netFilter}`, () => card()?.netFilter === netFilter, { withinMs });
}

const driver = () => inGuest(`basename $(readlink /sys/bus/pci/devices/${pf}/driver)`);
const requests = () => inGuest("cat /run/metadata-requests 2>/dev/null || true");

/** Requests the card by its network, for vfio-pci, and gives it back. */
async function useCard(netFilter: string, whileBound: () => Promise<void>): Promise<void> {
  const policy = policySpec({ netFilter }, { numVfs: 1, deviceType: "vfio-pci", resourceName: "cloud" });
  await applyPolicy(testCluster, "cloud", policy);
  await policyIs(news, "cloud", "Ready", withinMs);
  expect(await driver()).toBe("vfio-pci");
  expect(card()).toMatchObject({ netFilter, mac, driver: "vfio-pci", numVfs: 1, totalvfs: 1, owned: true });
  await whileBound();
  await testCluster.kubectl(["delete", "sriovnetworknodepolicies", "--all", "-n", namespace]);
  await eventually("the card has its kernel driver", async () => (await driver()) === "igb", { withinMs });
  await eventually("the card is released", () => card()?.owned !== true && card()?.driver === "igb", { withinMs });
  // The emulated card has its own address again, unlike a card of a cloud.
  await inGuest(`udevadm settle; ip link set enp1s0f0 address ${mac}`);
}

describe("the card of an OpenStack instance", () => {
  beforeAll(() => register("openstack:///83679162-1378-4288-a2d4-70e13ec132aa"), limitMs);

  it(
    "has the network of the config drive, without a request, and is bound and given back as the policy says",
    async () => {
      expect(await inGuest(`blkid -o value -s LABEL ${driveLink}`)).toBe("config-2");
      const drive = gunzipSync(await readFile(driveImage)).toString("latin1");
      const id = /"network_id": "([\w-]+)"/.exec(drive)?.[1] ?? "";
      const netFilter = `openstack/NetworkID:${id}`;
      await withDaemon(async () => {
        await hasNetwork(netFilter);
        expect(card()).toMatchObject({
          mac,
          totalvfs: 1,
          numVfs: 1,
          Vfs: [{ pciAddress: pf, vfID: 0, mac, driver: "igb" }],
        });
        await useCard(netFilter, () => Promise.resolve());
      });
      expect(await requests()).toBe("");
    },
    limitMs,
  );

  it.each([
    { does: "has no metadata", answer: [404, "not found"] as const, error: "HTTP status 404" },
    { does: "fails", answer: [500, "oops"] as const, error: "HTTP status 500" },
    {
      does: "answers with a page",
      answer: [200, "<html>login</html>"] as const,
      error: 'the answer is not JSON: "<html>login</html>"',
    },
  ])(
    "is not known while the metadata service $does, which is reported, and is known when it recovers",
    async ({ answer, error }) => {
      await inGuest(`rm -f ${driveLink}`);
      await serve({ "*": answer });
      await withDaemon(async () => {
        await eventually("the node state has the error", () => status()?.lastSyncError?.includes(error), { withinMs });
        expect(status()?.syncStatus).toBe("Failed");
        expect(card()).not.toHaveProperty("netFilter");
        const network = "2e40d2a3-3d1c-4bf9-8c5e-6a6a3a9c1b52";
        await serve({
          "GET /openstack/2018-08-27/meta_data.json": [200, "{}"],
          "GET /openstack/2018-08-27/network_data.json": [
            200,
            JSON.stringify({
              links: [{ id: "tap1", type: "hw_veb", ethernet_mac_address: mac }],
              networks: [{ id: "network0", link: "tap1", network_id: network }],
            }),
          ],
        });
        await hasNetwork(`openstack/NetworkID:${network}`);
        await eventually("the error is gone", () => status()?.lastSyncError === "", { withinMs });
      });
    },
    limitMs,
  );
});

describe("the card of an AWS instance", () => {
  const macs = "/latest/meta-data/network/interfaces/macs/";
  const token = { token: "secret", "PUT /latest/api/token": [200, "secret"] } as const;

  beforeAll(() => register("aws:///eu-west-1a/i-0123456789abcdef0"), limitMs);

  it(
    "has the subnet from version 2 of the metadata service, also after the daemon is killed while it is bound",
    async () => {
      await serve({
        ...token,
        [`GET ${macs}`]: [200, `${mac}/\n`],
        [`GET ${macs}${mac}/subnet-id`]: [200, "subnet-0a1b2c3d"],
      });
      const netFilter = "aws/NetworkID:0a1b2c3d";
      const first = node.startDaemon();
      await hasNetwork(netFilter);
      // On a loaded machine, the first answers can come too late, and the daemon repeats its requests.
      expect(await requests()).toMatch(new RegExp(`PUT /latest/api/token\nGET ${macs}\nGET ${macs}${mac}/subnet-id$`));
      const second = Promise.withResolvers<() => Promise<void>>();
      await useCard(netFilter, async () => {
        first.kill("SIGKILL");
        await first.exitCode;
        await serve({}); // the next daemon gets no metadata, and the card shows no address
        const daemon = node.startDaemon();
        second.resolve(async () => {
          daemon.kill("SIGTERM");
          expect(await daemon.exitCode).toBe(0);
        });
        const isReported = () => status()?.lastSyncError?.includes("/latest/api/token: HTTP status 404");
        await eventually("the missing metadata are reported", isReported, { withinMs });
        expect(card()).toMatchObject({ netFilter, mac, driver: "vfio-pci" });
      });
      await (
        await second.promise
      )();
    },
    limitMs,
  );

  it.each([
    { does: "refuses a token", given: { "PUT /latest/api/token": [403, ""] }, error: "HTTP status 403" },
    {
      does: "does not know the token",
      given: { ...token, "PUT /latest/api/token": [200, "old"] },
      error: "status 401",
    },
    {
      does: "answers with a page",
      given: { "*": [200, "<!doctype html>\n<html>login</html>"] },
      error: "PUT http://169.254.169.254/latest/api/token: not a token",
    },
  ] satisfies readonly { readonly does: string; readonly given: Answers; readonly error: string }[])(
    "is not known while the metadata service $does, which is reported",
    async ({ given, error }) => {
      await serve(given);
      await withDaemon(async () => {
        await eventually("the node state has the error", () => status()?.lastSyncError?.includes(error), { withinMs });
        expect(card()).not.toHaveProperty("netFilter");
      });
    },
    limitMs,
  );
});
