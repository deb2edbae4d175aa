// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { HttpTransport } from "../http/http-transport.ts";
import { configMaps, FakeApiServer } from "../testing/fake-api-server.ts";
import { removeFinalizer } from "./remove-finalizer.ts";

/** A server with ConfigMap "a", which has the finalizers "other" and "own". */
async function setUp() {
  const server = await FakeApiServer.start();
  const transport = new HttpTransport(server.endpoint);
  const { metadata } = server.put("a", {});
  const path = "/api/v1/namespaces/ns/configmaps/a";
  const contentType = "application/merge-patch+json";
  const body = { metadata: { finalizers: ["other", "own"] } };
  await transport.request({
    method: "PATCH",
    path,
    contentType,
    body: { metadata: { ...metadata, ...body.metadata } },
  });
  server.requests.splice(0);
  return {
    server,
    common: { transport, type: configMaps, finalizer: "own" },
    object: () => server.get("a") ?? { metadata: { name: "gone" } },
    async [Symbol.asyncDispose]() {
      await transport[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe("removeFinalizer", () => {
  it("removes one finalizer, keeps the others, and sends nothing when it is not there", async () => {
    await using it = await setUp();
    expect(await removeFinalizer({ ...it.common, object: it.object() })).toBe("written");
    expect(it.object().metadata).toMatchObject({ finalizers: ["other"] });
    expect(await removeFinalizer({ ...it.common, object: it.object() })).toBe("unchanged");
    expect(it.server.requests).toHaveLength(1);
  });

  it("rejects with Conflict when the object has changed", async () => {
    await using it = await setUp();
    const object = it.object();
    it.server.put("a", { color: "red" });
    await expect(removeFinalizer({ ...it.common, object })).rejects.toMatchObject({ code: "Conflict" });
    expect(it.object().metadata).toMatchObject({ finalizers: ["other", "own"] });
  });

  it("succeeds when the object does not exist", async () => {
    await using it = await setUp();
    const metadata = { name: "gone", namespace: "ns", finalizers: ["own"] };
    expect(await removeFinalizer({ ...it.common, object: { metadata } })).toBe("unchanged");
  });
});
