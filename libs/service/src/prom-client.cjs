// SPDX-License-Identifier: Apache-2.0
// prom-client's parts that are used, by file: its index also loads a push gateway, cluster support and OpenTelemetry's
// types, 9 MB of resident memory in each process against 0.2 MB for these four.
"use strict";
exports.Registry = require("prom-client/lib/registry");
exports.Counter = require("prom-client/lib/counter");
exports.Gauge = require("prom-client/lib/gauge");
exports.Histogram = require("prom-client/lib/histogram");
