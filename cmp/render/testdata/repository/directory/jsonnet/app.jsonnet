local part = import 'parts/part.libsonnet';
local shared = import 'shared.libsonnet';
function(name='default', count=1) [
  shared.configMap(name + '-' + i, { from: std.extVar('from'), text: importstr 'parts/text.txt', part: part.value })
  for i in std.range(1, count)
]
