'use strict';

const { hitArea } = require('../tokens.json');

/** Say how far each control's hit area reaches beyond it, see README.md. */
function grow(bar) {
  return bar.controls.map((control) => {
    const horizontal = (hitArea.ideal - control.width) / 2;
    const vertical = (hitArea.ideal - control.height) / 2;
    return { id: control.id, top: vertical, right: horizontal, bottom: vertical, left: horizontal };
  });
}

module.exports = { grow };
