// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { checkDaemonVariable } from "./daemon-variables.ts";

describe("a variable of the config daemon", () => {
  it.each([
    { name: "METRICS_ADDRESS", value: ":29120" },
    { name: "LOG_LEVEL", value: "debug" },
    { name: "STATE_DIRECTORY", value: "/var/lib/sriov-operator" },
    { name: "CONNECTIVITY_TIMEOUT", value: "1m30s" },
    { name: "CONNECTIVITY_TIMEOUT", value: "0" },
    { name: "HTTPS_PROXY", value: "http://proxy.example.com:3128" },
    { name: "no_proxy", value: ".svc,10.0.0.0/8" },
    { name: "TZ", value: "" },
  ])("is passed on: $name", ({ name, value }) => {
    expect(checkDaemonVariable(name, value)).toEqual({ use: "passed" });
  });

  it.each(["GODEBUG", "GOMAXPROCS", "KUBE_FEATURE_WatchListClient", "DEV_MODE"])(
    "is accepted without effect if only upstream's daemon reads it: %s",
    (name) => {
      expect(checkDaemonVariable(name, "1")).toMatchObject({ use: "ignored" });
    },
  );

  it.each([
    ...["NODE_OPTIONS", "NODE_EXTRA_CA_CERTS", "NODE_TLS_REJECT_UNAUTHORIZED", "LD_PRELOAD", "LD_LIBRARY_PATH"],
    ...["GLIBC_TUNABLES", "KUBECONFIG", "PATH", "MODPROBE_OPTIONS", "OPENSSL_CONF", "BASH_ENV"],
    ...["NODE_NAME", "NAMESPACE", "HOST_ROOT", "HEALTH_ADDRESS", "KUBERNETES_SERVICE_HOST"],
    ...["", "log_level", "LOG_LEVEL ", "__proto__", "GODEBUG\n"],
  ])("is rejected with a list of the allowed names: %j", (name) => {
    expect(checkDaemonVariable(name, "x")).toMatchObject({
      use: "refused",
      message: expect.stringContaining("METRICS_ADDRESS"),
    });
  });

  it.each(["/", "/var", "var/lib/x", "/var/lib/../x", "/var/lib/x/", "/var/lib/x y", ""])(
    "is rejected as a state directory: %j",
    (value) => {
      expect(checkDaemonVariable("STATE_DIRECTORY", value)).toMatchObject({ use: "refused" });
    },
  );

  it.each(["", "4s", "11m", "30", "-5s", "500ms", "1h"])("is rejected as a time limit: %j", (value) => {
    expect(checkDaemonVariable("CONNECTIVITY_TIMEOUT", value)).toMatchObject({ use: "refused" });
  });

  it.each([
    { what: "too long", value: "x".repeat(1_025), words: "at most 1024 characters, but has 1025" },
    { what: "on two lines", value: "info\nx", words: "control characters" },
    { what: "terminated by NUL", value: "info\0", words: "control characters" },
  ])("is rejected if its value is $what", ({ value, words }) => {
    expect(checkDaemonVariable("LOG_LEVEL", value)).toMatchObject({
      use: "refused",
      message: expect.stringContaining(words),
    });
  });
});
