// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createHeadlampLister } from "./cluster-view.ts";

const path = "/api/v1/pods";

describe("createHeadlampLister", () => {
  it("asks the cluster that Headlamp shows, with the query", async () => {
    const asked: unknown[] = [];
    const lister = createHeadlampLister((...given) => {
      asked.push(given);
      return Promise.resolve({ items: [] });
    }, "lab");
    const query = { fieldSelector: "type=Warning", limit: 100, continue: undefined };
    expect(await lister.request({ method: "GET", path, query })).toEqual({ items: [] });
    await lister.request({ method: "GET", path });
    expect(asked).toEqual([
      [`${path}?fieldSelector=type%3DWarning&limit=100`, { cluster: "lab" }],
      [path, { cluster: "lab" }],
    ]);
  });

  it.each([
    { thrown: Object.assign(new Error("no"), { status: 403 }), code: "Forbidden" },
    { thrown: Object.assign(new Error("no"), { status: 404 }), code: "NotFound" },
    { thrown: Object.assign(new Error("no"), { status: 500 }), code: "Unreachable" },
    { thrown: "no", code: "Unreachable" },
  ])("rejects with $code for $thrown", async ({ thrown, code }) => {
    const rejected = Promise.withResolvers<unknown>();
    rejected.reject(thrown);
    const lister = createHeadlampLister(() => rejected.promise, "lab");
    const message = `GET ${path}: ${code} (no)`;
    await expect(lister.request({ method: "GET", path })).rejects.toMatchObject({ code, message });
  });

  it("changes nothing", async () => {
    const lister = createHeadlampLister(() => Promise.reject(new Error("was asked")), "lab");
    await expect(lister.request({ method: "DELETE", path })).rejects.toMatchObject({ code: "MethodNotAllowed" });
  });
});
