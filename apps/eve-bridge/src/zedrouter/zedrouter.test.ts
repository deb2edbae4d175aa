// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { CniError, cniCode } from "../request/cni-error.ts";
import { isObject, parseJson, type JsonObject, type JsonValue } from "../request/json.ts";
import { parseMac } from "../addresses/mac-address.ts";
import { parseResult } from "../request/result.ts";
import { decodeReply, encodeRequest } from "./rpc-client.ts";
import { createFrameReader } from "./rpc-frames.ts";
import { createZedrouter, decodeL2Connection, encodeIpam, encodePod, type PodInterface } from "./zedrouter.ts";

/** The messages of testdata/eve-jsonrpc.jsonl, as the bytes that were on the wire. */
const vectors = readFileSync(join(__dirname, "../../testdata/eve-jsonrpc.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => ({ fromPlugin: line.startsWith('{"dir":"C>S"'), bytes: line.slice(line.indexOf('"msg":') + 6, -1) }));

const requests = vectors.filter(({ fromPlugin }) => fromPlugin).map(({ bytes }) => `${bytes}\n`);
const replies = vectors.filter(({ fromPlugin }) => !fromPlugin).map(({ bytes }) => bytes);

const pod: PodInterface = {
  podName: "virt-launcher-app-1-027a9-abcde-fghij",
  podNamespace: "",
  netns: "/var/run/netns/cni-1",
  ifName: "net1",
};
const mac = parseMac("02:16:3e:5e:6c:01");
const withMac: PodInterface = mac === undefined ? pod : { ...pod, mac };

/** Decodes one reply as the client does. */
function decode(bytes: string): JsonObject {
  const [reply] = createFrameReader(1 << 20).push(Buffer.from(bytes));
  if (!isObject(reply)) throw new Error("no reply");
  return decodeReply("RPCServer.X", reply);
}

describe("the messages of testdata/eve-jsonrpc.jsonl", () => {
  it("are fourteen", () => {
    expect([requests.length, replies.length]).toEqual([4, 10]);
  });

  it("are encoded byte for byte", () => {
    const ipam = parseResult({
      cniVersion: "1.0.0",
      ips: [{ address: "10.11.12.2/32", gateway: "10.11.12.1" }, { address: "10.11.12.2/32" }],
      routes: [{ dst: "0.0.0.0/0", gw: "10.11.12.1" }, { dst: "2001:db8::/64" }],
    });
    expect(requests).toEqual([
      encodeRequest("RPCServer.ConnectPodAtL2", encodePod(withMac), 0),
      encodeRequest("RPCServer.ConnectPodAtL3", { ...encodePod(withMac), ...encodeIpam(ipam) }, 1),
      encodeRequest("RPCServer.DisconnectPod", encodePod(pod), 2),
      encodeRequest("RPCServer.CheckPodConnection", encodePod(pod), 3),
    ]);
  });

  it("are decoded: ConnectPodAtL2", () => {
    expect(decodeL2Connection(decode(replies[0] ?? ""))).toEqual({
      useDhcp: true,
      interfaces: [
        { name: "bn1", mac: "02:16:3e:00:00:01" },
        { name: "nbu1x1" },
        { name: "net1", mac: "02:16:3e:5e:6c:01", sandbox: "/var/run/netns/cni-1" },
      ],
    });
  });

  it("are decoded: ConnectPodAtL3, DisconnectPod and CheckPodConnection", () => {
    expect(replies.slice(1, 4).map(decode)).toEqual([
      { AppUUID: "deadbeef-0102-0304-0506-0708090a0b0c" },
      { AppUUID: "00000000-0000-0000-0000-000000000000", UsedDHCP: true },
      { AppUUID: "deadbeef-0102-0304-0506-0708090a0b0c", UsesDHCP: false },
    ]);
  });

  it.each(replies.slice(4))("are decoded: an error has code 100 and the server's message: %s", (bytes) => {
    const { error } = asObject(parseJson(bytes));
    expect(() => decode(bytes)).toThrow(
      expect.objectContaining({
        code: cniCode.refused,
        message: `RPC RPCServer.X failed: ${JSON.stringify(error).slice(1, -1)}`,
      }),
    );
  });
});

describe("encodePod", () => {
  it("adds the members of newer zedrouters if they have a value, in the order of Go's structs", () => {
    const ni = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
    expect(JSON.stringify(encodePod({ ...pod, podNamespace: "eve-kube-app", networkInstance: ni }))).toBe(
      '{"Pod":{"Name":"virt-launcher-app-1-027a9-abcde-fghij","Namespace":"eve-kube-app","NetNsPath":"/var/run/netns/cni-1"},' +
        '"PodInterface":{"Name":"net1","MAC":null,"NetNsPath":"/var/run/netns/cni-1"},' +
        `"NetworkInstance":"${ni}"}`,
    );
  });
});

describe("encodeIpam", () => {
  it("passes the DNS settings on", () => {
    const ipam = parseResult({ cniVersion: "1.0.0", dns: { nameservers: ["10.0.0.1"], domain: "a", search: ["b"] } });
    expect(encodeIpam(ipam)["DNS"]).toEqual({ Nameservers: ["10.0.0.1"], Domain: "a", Search: ["b"], Options: null });
  });
});

describe("decodeL2Connection", () => {
  it("treats absent members as zero values, which releases before AppUUID need", () => {
    expect(decodeL2Connection({})).toEqual({ useDhcp: false, interfaces: [] });
    expect(decodeL2Connection({ Interfaces: null, UseDHCP: null })).toEqual({ useDhcp: false, interfaces: [] });
    expect(decodeL2Connection({ Interfaces: [{ Name: "net1" }] }).interfaces).toEqual([{ name: "net1" }]);
  });

  it.each([
    { reply: { UseDHCP: "yes" }, says: 'UseDHCP must be true or false, not "yes"' },
    { reply: { Interfaces: {} }, says: "Interfaces must be an array, not object" },
    { reply: { Interfaces: [1] }, says: "Interfaces[0] must be an object, not number" },
    { reply: { Interfaces: [{ Name: 1 }] }, says: "Interfaces[0].Name" },
    { reply: { Interfaces: [{ Name: "" }] }, says: "Interfaces[0].Name" },
    { reply: { Interfaces: [{ Name: "a", MAC: "02:16:3e:5e:6c:01" }] }, says: "Interfaces[0].MAC must be the base64" },
    { reply: { Interfaces: [{ Name: "a", MAC: [2] }] }, says: "Interfaces[0].MAC" },
    { reply: { Interfaces: [{ Name: "a", NetNsPath: 1 }] }, says: "Interfaces[0].NetNsPath" },
  ])("names the member at fault, with code 101: $says", ({ reply, says }) => {
    const read = () => decodeL2Connection(reply);
    expect(read).toThrow(expect.objectContaining({ code: cniCode.protocol }));
    expect(read).toThrow(says);
  });

  it("throws nothing but CniError for any answer", async () => {
    const answer = fc.oneof(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.record({
        UseDHCP: fc.jsonValue(),
        Interfaces: fc.jsonValue(),
        UsedDHCP: fc.jsonValue(),
        UsesDHCP: fc.jsonValue(),
      }),
      fc.record({
        Interfaces: fc.array(fc.record({ Name: fc.jsonValue(), MAC: fc.jsonValue(), NetNsPath: fc.jsonValue() })),
      }),
    );
    const wait = { timeoutMs: 1 };
    await fc.assert(
      fc.asyncProperty(answer, async (reply) => {
        const value = parseJson(JSON.stringify(reply));
        const zedrouter = createZedrouter({
          call: () => Promise.resolve(asObject(value)),
          close: () => undefined,
        });
        const calls = [zedrouter.connectAtL2(pod, wait), zedrouter.disconnect(pod, wait), zedrouter.check(pod, wait)];
        for (const outcome of await Promise.allSettled(calls)) {
          if (outcome.status === "rejected") expect(outcome.reason).toBeInstanceOf(CniError);
        }
      }),
    );
  });
});

function asObject(value: JsonValue): JsonObject {
  return isObject(value) ? value : {};
}
