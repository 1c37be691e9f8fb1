'use strict';
// Owns the pipes to the evaluator: one JSON array a line in, one out. Must never use standard input or output, which
// belong to the submission.

const fs = require('node:fs');
const { Socket } = require('node:net');

const write = fs.writeSync;
const stringify = JSON.stringify;

function send(descriptor, message) {
  const bytes = Buffer.from(`${stringify(message)}\n`);
  for (let offset = 0; offset < bytes.length; ) offset += write(descriptor, bytes, offset);
}

function receive(descriptor, handle, ended) {
  const socket = new Socket({ fd: descriptor, readable: true, writable: false });
  let held = [];
  socket.on('data', (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const line = Buffer.concat([...held, chunk.subarray(start, end)]).toString('utf8');
      held = [];
      start = end + 1;
      handle(JSON.parse(line));
    }
    held.push(chunk.subarray(start));
  });
  socket.on('end', ended);
  socket.on('error', ended);
}

module.exports = { receive, send };
